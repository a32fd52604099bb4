import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { type CsdlSource, csdlDocument } from '../../src/dictionary/csdl/document.ts';
import { csdlXml } from '../../src/dictionary/csdl/xml.ts';
import { type Declarations, declare, standardDictionary } from '../../src/dictionary/index.ts';
import { wholeDictionary } from './csdl/fixture.ts';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const page = read('docs/dictionary.md');
const standard = standardDictionary();

/** The content of the only block with this language. */
function block(kind: string): string {
  const found = [...page.matchAll(new RegExp(`^\`\`\`${kind}\n([^]*?)^\`\`\`$`, 'gm'))];
  assert.equal(found.length, 1, `blocks of ${kind}`);
  return found[0]?.[1] ?? '';
}

const lines = (kind: string): string[] => block(kind).trimEnd().split('\n');
const xmlOf = (source: CsdlSource): string => csdlXml(csdlDocument(source));
const withoutIndent = (text: string): string => text.replaceAll(/^ +/gm, '');

describe('docs/dictionary.md', () => {
  const { dictionary: declarations }: { dictionary: Declarations } = JSON.parse(block('json'));
  const declared = declare(standard, declarations);

  it('has a valid example of declared fields', () => {
    for (const path of declarations.fieldsInUse ?? []) {
      const [resource = '', field = ''] = path.split('.');
      assert.ok(standard.resources.get(resource)?.fields.has(field), path);
    }
    assert.equal(declared.lookups.get('MediaType')?.values.has('svg'), true);
    assert.equal(standard.lookups.get('MediaType')?.values.has('svg'), false);
    assert.equal(declared.resources.get('Feedback')?.key, 'FeedbackKey');
  });

  it('has the $metadata that the example gives', () => {
    const xml = withoutIndent(xmlOf(wholeDictionary(declared)));
    const shown = block('xml').split(/\n(?=<[^/])/);
    assert.equal(shown.length, 7);
    for (const part of shown) assert.ok(xml.includes(withoutIndent(part.trimEnd())), part);
  });

  it('lists every type', () => {
    const types = lines('types').map((line) => line.split(/ {2,}| (?=Edm|Coll)/));
    assert.equal(types.length, 10);
    const { resources } = declare(standard, {
      customFields: types.map(([type = ''], index) => ({
        resource: 'Member',
        name: `Type_${index}`,
        group: 'Types',
        label: type,
        type,
      })),
    });
    const xml = xmlOf(wholeDictionary({ ...standard, resources }));
    for (const [index, [, written = '']] of types.entries()) {
      const [, edmType, facets] = /^(\S+)(.*)$/.exec(written) ?? [];
      const nullable = edmType?.startsWith('Collection') ? ' Nullable="false"' : '';
      assert.ok(
        xml.includes(`<Property Name="Type_${index}" Type="${edmType}"${nullable}${facets}>`),
        written,
      );
    }
  });

  it("quotes lines of the dictionary's tables", () => {
    const tables = new Set(
      ['Property', 'Media'].flatMap((name) => read(`src/dictionary/data/fields/${name}.tsv`).split('\n')),
    );
    const quoted = lines('fields');
    assert.equal(quoted.length, 8);
    for (const line of quoted) assert.ok(tables.has(line), line);
  });

  it('quotes the actual error messages', () => {
    const rejected = lines('refused');
    assert.equal(rejected.length, 10);
    for (let line = 0; line < rejected.length; line += 2) {
      const [source = '', message = ''] = rejected.slice(line, line + 2);
      const wrong: Declarations = JSON.parse(source);
      assert.throws(() => declare(standard, wrong), { code: 'usage', message: message.trimStart() });
    }
  });
});
