/** The test cases of the OASIS grammar. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { PlatError } from '../../../src/errors/index.ts';
import type { LiteralText } from '../../../src/query/odata/nodes.ts';
import { decodePart } from '../../../src/query/odata/option-text.ts';
import { parseExpressionText, parseOptions, parsePathText } from '../../../src/query/odata/parser.ts';
import { parseQueryOptions } from '../../../src/query/odata/query.ts';

const FILE = new URL('../../../../shared/data/odata-abnf-vectors.json', import.meta.url);

interface Vector {
  readonly rule: string;
  readonly input: string;
  readonly valid: boolean;
}

/** Grammar of request bodies, which this service does not parse. */
const NOT_READ = new Set(['booleanValue', 'primitiveValue']);

const DOC = readFileSync(new URL('../../../docs/odata.md', import.meta.url), 'utf8');

/** Where this service differs from the grammar: the table at the end of the document. */
const OTHERWISE: readonly string[] = [
  ...DOC.slice(DOC.indexOf('## Differences from the standard grammar')).matchAll(/^\| `(.*)` \| .+ \|$/gm),
].map(([, input = '']) => input);

/** The vector does not match the rule that it names, though it is valid as something else. */
class WrongKind extends Error {}

const decoded = (text: string): string => decodePart(text.replaceAll('+', ' '));
const parse = (text: string) => parseExpressionText({ option: '$filter', text });

function literal(text: string, ...forms: readonly LiteralText['form'][]): void {
  const node = parse(text);
  if (node.kind !== 'literal' || !forms.includes(node.literal.form)) throw new WrongKind(node.kind);
}

function options(query: string): void {
  const { system, aliases } = parseQueryOptions(query);
  parseOptions(system, aliases);
}

function relative(uri: string): void {
  const [path = '', query = ''] = split(uri, '?');
  parsePathText(path);
  options(query);
}

function split(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

/** A service root may be any path that ends in a slash, so that every slash is tried. */
function absolute(uri: string): void {
  const match = /^https?:\/\/[^/]+\/([^?]*)(\?.*)?$/.exec(uri);
  if (!match) throw new WrongKind('no URL');
  const [, path = '', query = ''] = match;
  const segments = path.split('/');
  const faults: unknown[] = [];
  for (const index of segments.keys()) {
    try {
      relative(segments.slice(index).join('/') + query);
      return;
    } catch (error) {
      faults.push(error);
    }
  }
  throw faults.at(-1);
}

function read(rule: string, input: string): unknown {
  switch (rule) {
    case 'filter':
    case 'orderby':
    case 'orderBy':
    case 'select':
    case 'expand':
    case 'compute':
    case 'search':
    case 'skiptoken':
    case 'deltatoken':
    case 'systemQueryOption':
    case 'queryOptions':
      return options(input);
    case 'searchExpr':
      return options(`$search=${input}`);
    case 'customQueryOption': {
      const { custom } = parseQueryOptions(input);
      if (custom.length !== 1) throw new WrongKind(input);
      return;
    }
    case 'odataUri':
      return absolute(input);
    case 'odataRelativeUri':
      return relative(input);
    case 'resourcePath':
    case 'entitySetName':
      parsePathText(input);
      return;
    case 'commonExpr':
    case 'boolCommonExpr':
    case 'boolcommonExpr':
    case 'firstMemberExpr':
    case 'propertyPathExpr':
    case 'isofExpr':
    case 'notExpr':
      parse(decoded(input));
      return;
    case 'anyExpr':
      parse(`Items/${input.trim()}`);
      return;
    case 'odataIdentifier': {
      const node = parse(input);
      if (node.kind !== 'path' || node.segments.length > 1) throw new WrongKind(node.kind);
      return;
    }
    case 'null':
      return literal(input, 'null');
    case 'boolean':
      return literal(input, 'boolean');
    case 'guid':
      return literal(input, 'guid');
    case 'date':
    case 'dateValue':
      return literal(input, 'date');
    case 'dateTimeOffsetValue':
      return literal(input, 'timestamp');
    case 'dateTimeOffsetLiteral':
    case 'dateTimeOffsetValueInUrl':
      return literal(decodePart(input), 'timestamp');
    case 'timeOfDayValue':
      return literal(input, 'time');
    case 'timeOfDayLiteral':
      return literal(decodePart(input), 'time');
    case 'durationValue':
      return literal(`duration'${input}'`, 'duration');
    case 'durationLiteral':
      return literal(input, 'duration', 'string');
    case 'binaryLiteral':
      return literal(input, 'binary');
    case 'stringLiteral':
      return literal(decoded(input), 'string');
    case 'enumValue':
      return literal(`Type'${input}'`, 'enumeration');
    case 'enumLiteral':
      return literal(decoded(input), 'enumeration', 'string');
    case 'stringInUrl':
      parse(`[${decodePart(input)}]`);
      return;
    case 'primitiveLiteral':
      return literal(decodePart(input), 'integer', 'decimal', 'string');
    case 'byteValue':
    case 'sbyteValue':
    case 'int16Value':
    case 'int32Value':
    case 'int64Value':
    case 'decimalValue':
    case 'doubleValue':
    case 'singleValue':
      return literal(input, 'integer', 'decimal', 'special');
    case 'sbyteLiteral':
    case 'int16Literal':
    case 'int32Literal':
    case 'int64Literal':
    case 'decimalLiteral':
    case 'doubleLiteral':
    case 'singleLiteral':
      return literal(decodePart(input), 'integer', 'decimal', 'special');
    default:
      assert.fail(`no reading of the rule ${rule}`);
  }
}

function verdict({ rule, input }: Vector): boolean {
  try {
    read(rule, input);
    return true;
  } catch (error) {
    if (error instanceof PlatError || error instanceof WrongKind) return false;
    throw error;
  }
}

test('the grammar agrees with the OASIS test cases, except for the list in the document', (context) => {
  if (!existsSync(FILE)) return context.skip('the OASIS test cases are not beside this checkout');
  const vectors: readonly Vector[] = JSON.parse(readFileSync(FILE, 'utf8'));
  const asked = vectors.filter(({ rule }) => !NOT_READ.has(rule));
  const others = asked.filter((vector) => verdict(vector) !== vector.valid).map(({ input }) => input);
  assert.deepEqual(others.toSorted(), OTHERWISE.toSorted());
  assert.deepEqual([vectors.length, asked.length, others.length], [721, 713, 18]);
  assert.ok(others.length <= asked.length * 0.05, `${others.length} of ${asked.length}`);
});
