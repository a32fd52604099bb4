import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { errorOf } from '../../../src/query/native/faults.ts';
import { coerce, type Target } from '../../../src/query/native/filter.ts';
import type { Condition, FieldName, Filter, Operand, Value } from '../../../src/query/native/nodes.ts';
import { parseFilter } from '../../../src/query/native/parser.ts';
import type { Literal, Point } from '../../../src/query/tree.ts';

interface ExpectedCondition {
  readonly field: string;
  readonly operator: string;
  readonly type: string;
  readonly value: string | readonly string[];
  readonly custom_field: boolean;
}

interface Vector {
  readonly filter: string;
  readonly valid: boolean;
  readonly note: string;
  readonly expectedErrorDetail?: { readonly constraint: boolean };
  readonly expressions?: readonly ExpectedCondition[];
  readonly evaluatesTo?: boolean;
}

const FILE = new URL('../../../../shared/data/sparkql-vectors.json', import.meta.url);
const skip = existsSync(FILE)
  ? false
  : 'the reference verdicts (../shared/data/sparkql-vectors.json) are not here';
const vectors: readonly Vector[] = skip ? [] : JSON.parse(readFileSync(FILE, 'utf8'));

/** The reference implementation reads the clock for these. */
const CLOCK = /\b(now|seconds|minutes|hours|days|weekdays|months|years)\(/;
/** In these vectors the type of the field was given, and the values were converted to it. */
const TYPED: readonly (readonly [RegExp, Target])[] = [
  [/:527$/, 'decimal'],
  [/:(542|552|603)$/, 'date'],
];
const REFERENCE_NAMES: Readonly<Record<string, string>> = {
  integer: 'integer',
  decimal: 'decimal',
  string: 'character',
  date: 'date',
  timestamp: 'datetime',
  time: 'time',
  boolean: 'boolean',
  null: 'null',
};

function conditionsOf(filter: Filter): readonly Condition[] {
  switch (filter.kind) {
    case 'condition':
      return [filter];
    case 'not':
      return conditionsOf(filter.operand);
    default:
      return filter.terms.flatMap(conditionsOf);
  }
}

function fieldOf(operand: Operand): FieldName | undefined {
  switch (operand.kind) {
    case 'name':
    case 'custom':
      return operand;
    case 'call':
      return fieldOf(operand.of);
    case 'negate':
      return fieldOf(operand.operand);
    case 'arithmetic':
      return fieldOf(operand.left) ?? fieldOf(operand.right);
    default:
      return undefined;
  }
}

function nameOf(operand: Operand): string | undefined {
  const field = fieldOf(operand);
  return field?.kind === 'custom' ? `"${field.group}"."${field.label}"` : field?.name;
}

const pointText = ({ longitude, latitude }: Point): string => `${longitude} ${latitude}`;

/** Shapes and patterns as the reference implementation prints them. */
function valueTexts(value: Value): readonly string[] {
  switch (value.kind) {
    case 'scalar':
      return [value.text];
    case 'pattern':
      return [value.text];
    case 'range':
      return [value.from, value.to];
    case 'clock':
      return [];
    case 'shape': {
      const { geometry } = value;
      if (geometry.kind === 'circle') {
        const { longitude, latitude } = geometry.center;
        return [`CIRCLE([${longitude}, ${latitude}], ${geometry.miles})`];
      }
      if (geometry.kind !== 'areas') return [geometry.kind];
      const [ring = []] = geometry.areas[0] ?? [];
      return [`SRID=4326;POLYGON((${ring.map(pointText).join(',')}))`];
    }
  }
}

/** Numbers are compared by value, lines only by kind. */
function normal(type: string, value: string): string {
  if (type === 'integer' || type === 'decimal') return String(Number(value));
  return value.replace(/\.0\)$/, ')').replace(/^.*LINESTRING.*$/, 'lines');
}

/** The reference implementation keeps texts with their quotes; results of functions have none. */
const unquoted = (value: string): string =>
  value.startsWith("'") ? value.slice(1, -1).replaceAll("\\'", "'") : value;

/** The reference implementation's own name for an operator and its values. */
function operatorName({ operator }: Condition, type: string, count: number): string {
  const isList = count > 1 && ['character', 'integer', 'decimal'].includes(type);
  if (operator === 'Eq') return isList ? 'In' : 'Eq';
  if (operator === 'Ne') return isList ? 'Not In' : 'Not Eq';
  return operator;
}

const isScalar = (value: Value) => value.kind === 'scalar' || value.kind === 'clock';

function literalsIn(values: readonly Value[], wanted: Target): readonly Literal[] {
  return values.filter(isScalar).map((value) => {
    const coerced = coerce(value, wanted, new Date());
    assert.equal(coerced.kind, 'literal');
    return coerced;
  });
}

function describeCondition(condition: Condition, note: string) {
  const { right } = condition;
  assert.equal(right.kind, 'values');
  const wanted = TYPED.find(([line]) => line.test(note.split(';')[0] ?? ''))?.[1];
  const literals = wanted === undefined ? [] : literalsIn(right.values, wanted);
  const type = literals[0] === undefined ? right.type : (REFERENCE_NAMES[literals[0].type] ?? '');
  const texts =
    literals.length > 0 ? literals.map(({ value }) => String(value)) : right.values.flatMap(valueTexts);
  const [first] = right.values;
  const count = first?.kind === 'range' ? 2 : right.values.length;
  return {
    field: nameOf(condition.left),
    operator: operatorName(condition, type, count),
    type,
    values: texts.map((value) => normal(type, value)),
    custom: fieldOf(condition.left)?.kind === 'custom',
  };
}

function describeExpected({ field, operator, type, value, custom_field }: ExpectedCondition) {
  const values = [value].flat().map((one) => normal(type, type === 'character' ? unquoted(one) : one));
  return { field, operator, type, values, custom: custom_field };
}

/** Removes conditions that the reference implementation dropped. */
function evaluate(filter: Filter): boolean | 'dropped' {
  switch (filter.kind) {
    case 'condition': {
      const [value] = filter.right.kind === 'values' ? filter.right.values : [];
      return value?.kind === 'scalar' && value.type === 'boolean' ? value.text === 'true' : 'dropped';
    }
    case 'not': {
      const operand = evaluate(filter.operand);
      return operand === 'dropped' ? operand : !operand;
    }
    default: {
      const terms = filter.terms.map(evaluate).filter((term) => term !== 'dropped');
      if (terms.length === 0) return 'dropped';
      return filter.kind === 'and' ? terms.every(Boolean) : terms.some(Boolean);
    }
  }
}

describe('the reference verdicts on native filters', { skip }, () => {
  it('contains all of them', () => {
    assert.equal(vectors.length, 403);
    assert.equal(vectors.filter(({ valid }) => valid).length, 330);
    assert.equal(vectors.filter(({ evaluatesTo }) => evaluatesTo !== undefined).length, 106);
  });

  for (const vector of vectors) {
    const { filter, valid, note, expectedErrorDetail, expressions = [], evaluatesTo } = vector;
    const title = filter.length > 100 ? `${filter.slice(0, 100)}… (${filter.length})` : filter;
    if (!valid) {
      it(`rejects ${title}`, () => {
        const error = errorOf(parseFilter(filter).faults);
        const isLimit = expectedErrorDetail?.constraint === true;
        assert.equal(error?.native, isLimit ? 1041 : 1040);
        assert.equal(error?.status, 400);
      });
      continue;
    }
    it(`reads ${title}`, () => {
      const parsed = parseFilter(filter);
      assert.deepEqual(
        parsed.faults.map(({ message }) => message),
        [],
      );
      assert.ok(parsed.filter);
      const found = conditionsOf(parsed.filter).map((condition) => describeCondition(condition, note));
      const expected = expressions.map(describeExpected);
      if (CLOCK.test(filter)) {
        const withoutValues = (list: readonly { readonly values: unknown }[]) =>
          list.map(({ values: _, ...rest }) => rest);
        assert.deepEqual(withoutValues(found), withoutValues(expected));
      } else {
        assert.deepEqual(found, expected);
      }
      if (evaluatesTo !== undefined) {
        const result = evaluate(parsed.filter);
        assert.equal(result === 'dropped' ? true : result, evaluatesTo);
      }
    });
  }
});
