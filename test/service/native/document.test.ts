/** The paths, requests and expansions of docs/native.md work. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { startTestService } from '../../support/service.ts';
import { nativeAsker } from './asker.ts';
import { FIRST, fillMarket } from './market.ts';

const text = readFileSync(new URL('../../../docs/native.md', import.meta.url), 'utf8');

test('every path and request of docs/native.md is answered with records', async () => {
  const service = await startTestService({ after }, { fill: fillMarket });
  service.clock.set('2026-07-01T00:00:00Z');
  const asks = nativeAsker(service, 'replication', await service.key('replication'));
  const paths = [...text.matchAll(/^\| `\/v1\/([^`]+)`/gm)].map(([, path = '']) => path);
  const requests = [...text.matchAll(/^\/v1\/(\S.*)$/gm)].map(([, path = '']) => path);
  assert.deepEqual([paths.length, requests.length], [22, 4]);
  for (const path of [...paths, ...requests]) {
    const of = path.startsWith('accounts') ? 'O1' : FIRST;
    const place = path.replace('<latitude>', '46.8').replace('<longitude>', '-96.8');
    const { rows } = await asks.page(place.replace('<key>', of).replace('<name>', 'Residential'));
    const isEmpty = ['customfields', '_filter', 'nearby'].some(
      (each) => path.includes(each) && !path.includes('<key>'),
    );
    assert.equal(rows.length > 0, !isEmpty, path);
  }
});

test('every expansion that docs/native.md names returns records', async () => {
  const service = await startTestService({ after }, { fill: fillMarket });
  const asks = nativeAsker(service, 'replication', await service.key('replication'));
  const [sentence = ''] = /`_expand` puts (?:.|\n)*? into/.exec(text) ?? [];
  const names = [...sentence.matchAll(/`([A-Z]\w+)`/g)].map(([, name = '']) => name);
  assert.equal(names.length, 8);
  const { StandardFields } = await asks.one(`listings/${FIRST}?_expand=${names.join(',')}`);
  for (const name of names) assert.ok(JSON.stringify(StandardFields).includes(`"${name}":[{`), name);
});
