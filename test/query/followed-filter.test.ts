import assert from 'node:assert/strict';
import { test } from 'node:test';
import { standardDictionary } from '../../src/dictionary/index.ts';
import { resourceNames } from '../../src/query/native/names.ts';
import { makeSchema } from '../../src/query/schema.ts';
import { follow } from './followed-filter.ts';

type OData = typeof import('../../src/query/odata/query.ts');
type Native = typeof import('../../src/query/native/filter.ts');

const SOURCE = new URL('../../src/', import.meta.url);
const schema = makeSchema(standardDictionary());
const property = schema.of('Property');

// Before each language had one parser and one binder: 16 files and 451 stays, and 16 files and 271 stays.
// An OData filter reads the type of an expression from the tree, which has been 209 stays instead of 190.

test('an OData filter is parsed and bound by four files of the query room and the tree', async () => {
  const filter =
    "ListPrice gt 100000 and City eq 'Rome' and contains(PublicRemarks,'pool') and BedroomsTotal ge 3";
  const way = await follow<OData>(SOURCE, 'odata/query.ts', (module) =>
    module.parseFilter(filter, property, schema),
  );
  assert.deepEqual(way.files, [
    'odata/query.ts',
    'odata/parser.ts',
    'odata/values.ts',
    'odata/expression.ts',
    'tree.ts',
  ]);
  assert.ok(way.stays <= 210, `${way.stays} stays`);
});

test('a native filter is parsed and bound by four files of the query room', async () => {
  const filter = "ListPrice Gt 100000 And City Eq 'Rome' And BedroomsTotal Ge 3 And year(CloseDate) Eq 2024";
  const names = resourceNames('listings', property, schema);
  const way = await follow<Native>(SOURCE, 'native/filter.ts', (module) =>
    module.bindFilter(filter, names, { now: new Date(0) }),
  );
  assert.deepEqual(way.files, [
    'native/filter.ts',
    'native/parser.ts',
    'native/logic.ts',
    'native/faults.ts',
  ]);
  assert.ok(way.stays <= 15, `${way.stays} stays`);
});
