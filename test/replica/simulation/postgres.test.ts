/** The same histories on a server, whose timing does not depend on the seed. */
import assert from 'node:assert/strict';
import { WRONGS, type Wrong } from './mutants.ts';
import { postgresGround } from './postgres-ground.ts';
import { historySuite, isFull, wrongSuite } from './suite.ts';

const ground = postgresGround();
/** In `npm test`, the native interface is played on SQLite only. */
const kinds = isFull ? (['reso', 'native'] as const) : (['reso'] as const);

for (const kind of kinds) historySuite({ ground, interface: kind, runs: isFull ? 150 : 1 });

/** Erroneous consumers that a few histories detect. */
const SOON = ['the cursor is committed before the records'];
const named = (name: string): Wrong => WRONGS.find((wrong) => wrong.name === name) ?? assert.fail(name);

wrongSuite(ground, isFull ? WRONGS : SOON.map(named));
