import { suite } from 'node:test';
import type { Engine } from '../../support/engine.ts';
import { childrenContract } from './children.ts';
import { deleteContract } from './deletes.ts';
import { mediaContract } from './media.ts';
import { orphanContract } from './orphans.ts';
import { parentContract } from './parents.ts';
import { recordContract } from './records.ts';
import { stampContract } from './stamps.ts';
import { systemContract } from './systems.ts';

/** What every engine promises. */
export function storeContract(engine: Engine): void {
  suite(`${engine.name}: records`, () => recordContract(engine));
  suite(`${engine.name}: children`, () => childrenContract(engine));
  suite(`${engine.name}: orphans`, () => orphanContract(engine));
  suite(`${engine.name}: deletes`, () => deleteContract(engine));
  suite(`${engine.name}: systems`, () => systemContract(engine));
  suite(`${engine.name}: media`, () => mediaContract(engine));
  suite(`${engine.name}: stamps`, () => stampContract(engine));
  suite(`${engine.name}: parents`, () => parentContract(engine));
}
