/** Every example in docs/odata.md is accepted, and every rejected request in it gets the documented error. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { bindOptions, parseQueryOptions } from '../../../src/query/odata/query.ts';
import { parseResourcePath } from '../../../src/query/odata/resource-path.ts';
import { FUNCTIONS } from '../../../src/query/odata/values.ts';
import { refusal, schema } from './fixture.ts';

const DOC = readFileSync(new URL('../../../docs/odata.md', import.meta.url), 'utf8');

/** Reads a request as written in the document, without percent-encoding. */
function read(request: string): unknown {
  const [path = '', query = ''] = request.split(/\?(.*)/s);
  const options = parseQueryOptions(query.replaceAll('%', '%25').replaceAll('+', '%2B'));
  const found = parseResourcePath(path, schema, options.aliases);
  switch (found.kind) {
    case 'collection':
      return bindOptions('collection', options, found.resource, schema);
    case 'count':
      return bindOptions('count', options, found.resource, schema);
    case 'record':
      return bindOptions('record', options, found.resource, schema);
    case 'custom': {
      const kind = found.give === 'count' ? 'customCount' : 'custom';
      return bindOptions(kind, options, found.resource, schema);
    }
    case 'field':
    case 'service':
    case 'metadata':
      return found;
  }
}

test('the examples in the document are accepted', () => {
  const blocks = [...DOC.matchAll(/```odata\n(.*?)```/gs)].map(([, block = '']) => block);
  const requests = blocks.flatMap((block) => block.split('\n')).filter((line) => line !== '');
  assert.ok(requests.length >= 40, `${requests.length} examples`);
  for (const request of requests) assert.doesNotThrow(() => read(request), request);
});

test('the rejected requests in the document get the documented errors', () => {
  const rows = [...DOC.matchAll(/^\| `(Prop[^`]*)` \| `([^`]*)` \|$/gm)];
  assert.equal(rows.length, 9);
  for (const [, request = '', message] of rows) {
    assert.equal(refusal(() => read(request))[1], message, request);
  }
});

test('the document names every function', () => {
  for (const name of Object.keys(FUNCTIONS)) assert.ok(DOC.includes(`\`${name}`), name);
});
