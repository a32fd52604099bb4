import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { standardDictionary } from '../../../src/dictionary/index.ts';
import { bindFilter } from '../../../src/query/native/filter.ts';
import { FUNCTIONS } from '../../../src/query/native/functions.ts';
import { resourceNames } from '../../../src/query/native/names.ts';
import { PARAMETERS } from '../../../src/query/native/parameters.ts';
import { LISTING_EXPANSIONS } from '../../../src/query/native/selection.ts';
import { makeSchema } from '../../../src/query/schema.ts';
import { errorFrom, NOW } from './fixture.ts';

const page = readFileSync(new URL('../../../docs/native-filter.md', import.meta.url), 'utf8');
const schema = makeSchema(standardDictionary());
const names = resourceNames('listings', schema.of('Property'), schema);

/** The lines of all blocks with a language. */
function blocks(kind: string): string[] {
  const found = page.matchAll(new RegExp(`^\`\`\`${kind}\n([^]*?)^\`\`\`$`, 'gm'));
  return [...found].flatMap(([, body = '']) => body.trimEnd().split('\n'));
}

describe('docs/native-filter.md', () => {
  const examples = blocks('filter');
  it('has examples', () => assert.equal(examples.length, 41));
  for (const filter of examples) {
    it(`accepts ${filter}`, () => assert.ok(bindFilter(filter, names, { now: NOW })));
  }

  const refused = blocks('refused');
  it('has rejected filters', () => assert.equal(refused.length, 14));
  for (let line = 0; line < refused.length; line += 2) {
    const [filter = '', message = ''] = refused.slice(line, line + 2);
    it(`rejects ${filter}`, () => {
      const error = errorFrom(() => bindFilter(filter, names, { now: NOW }));
      assert.equal(error.message, message.trimStart());
    });
  }

  it('names every function', () => {
    for (const name of FUNCTIONS.keys()) assert.ok(new RegExp(`\\b${name}\\b`).test(page), name);
  });

  it('names every parameter and expansion', () => {
    for (const name of [...PARAMETERS, ...LISTING_EXPANSIONS]) assert.ok(page.includes(`\`${name}\``), name);
  });
});
