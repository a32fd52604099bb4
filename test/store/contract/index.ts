import { suite } from 'node:test';
import type { Engine } from '../../support/engine.ts';
import { childrenContract } from './children.ts';
import { deleteContract } from './deletes.ts';
import { orphanContract } from './orphans.ts';
import { recordContract } from './records.ts';

/** What every engine promises. */
export function storeContract(engine: Engine): void {
  suite(`${engine.name}: records`, () => recordContract(engine));
  suite(`${engine.name}: children`, () => childrenContract(engine));
  suite(`${engine.name}: orphans`, () => orphanContract(engine));
  suite(`${engine.name}: deletes`, () => deleteContract(engine));
}
