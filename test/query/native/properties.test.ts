import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { FieldValue } from '../../../src/dictionary/index.ts';
import { runsOf } from '../../support/runs.ts';
import { anyCharacter } from '../any-character.ts';
import { evaluate } from './evaluate.ts';
import { bound, compare, ref, text } from './fixture.ts';

type Record = Readonly<{ [name: string]: FieldValue }>;

/** A filter as text, and a function with its meaning. */
interface Meant {
  readonly filter: string;
  readonly holds: (record: Record) => boolean;
}

const VALUES = ['A', 'AB', 'B', 'BA'] as const;
const value = fc.constantFrom(...VALUES);
const values = fc.uniqueArray(value, { minLength: 1, maxLength: 3 });
const number = fc.integer({ min: -2, max: 3 });
const quoted = (list: readonly string[]): string => list.map((one) => `'${one}'`).join(',');

const applies = (record: Record): readonly string[] => {
  const { Appliances: found } = record;
  return typeof found === 'object' && found !== null ? found : [];
};
const city = (record: Record): FieldValue => record.City ?? null;
const bedrooms = (record: Record): number | undefined => {
  const { BedroomsTotal: found } = record;
  return typeof found === 'number' ? found : undefined;
};
const isBedrooms = (test: (count: number) => boolean) => (record: Record) => {
  const count = bedrooms(record);
  return count !== undefined && test(count);
};

const condition: fc.Arbitrary<Meant> = fc.oneof(
  values.map((list) => ({
    filter: `City Eq ${quoted(list)}`,
    holds: (record: Record) => list.some((one) => one === city(record)),
  })),
  values.map((list) => ({
    filter: `City Ne ${quoted(list)}`,
    holds: (record: Record) => list.every((one) => one !== city(record)),
  })),
  value.map((start) => ({
    filter: `City Eq '${start}*'`,
    holds: (record: Record) => String(city(record) ?? '').startsWith(start),
  })),
  value.map((start) => ({
    filter: `City Ne '?${start}'`,
    holds: (record: Record) => !new RegExp(`^.${start}$`).test(String(city(record) ?? '')),
  })),
  fc.constant({ filter: 'City Eq NULL', holds: (record: Record) => city(record) === null }),
  number.map((least) => ({
    filter: `BedroomsTotal Ge ${least}`,
    holds: isBedrooms((count) => count >= least),
  })),
  number.map((most) => ({ filter: `BedroomsTotal Lt ${most}`, holds: isBedrooms((count) => count < most) })),
  fc.tuple(number, number).map(([low, high]) => ({
    filter: `BedroomsTotal Bt ${low},${high}`,
    holds: isBedrooms((count) => low <= count && count <= high),
  })),
  values.map((list) => ({
    filter: `Appliances Eq ${quoted(list)}`,
    holds: (record: Record) => applies(record).some((one) => list.some((wanted) => wanted === one)),
  })),
  values.map((list) => ({
    filter: `Appliances Ne ${quoted(list)}`,
    holds: (record: Record) => !applies(record).some((one) => list.some((wanted) => wanted === one)),
  })),
  values.map((list) => ({
    filter: `all(Appliances) Eq ${quoted(list)}`,
    holds: (record: Record) => list.every((wanted) => applies(record).includes(wanted)),
  })),
  fc.constant({ filter: 'Appliances Ne NULL', holds: (record: Record) => applies(record).length > 0 }),
);

interface Step {
  readonly joiner: 'And' | 'Or' | 'Not';
  readonly item: Meant;
}

/** And before Or; a Not between two conditions is And Not. */
function joined(first: Meant, steps: readonly Step[]): Meant {
  const filter = [first.filter, ...steps.map(({ joiner, item }) => `${joiner} ${item.filter}`)].join(' ');
  const holds = (record: Record): boolean => {
    const blocks = [first.holds(record)];
    for (const { joiner, item } of steps) {
      const last = blocks.length - 1;
      const held = item.holds(record);
      if (joiner === 'Or') blocks.push(held);
      else blocks[last] = (blocks[last] ?? false) && (joiner === 'And' ? held : !held);
    }
    return blocks.includes(true);
  };
  return { filter, holds };
}

const turned = ({ filter, holds }: Meant): Meant => ({
  filter: `Not ${filter}`,
  holds: (record) => !holds(record),
});
const grouped = ({ filter, holds }: Meant): Meant => ({ filter: `(${filter})`, holds });

function sequence(item: fc.Arbitrary<Meant>, mayTurn: boolean): fc.Arbitrary<Meant> {
  const joiner = fc.constantFrom('And' as const, 'Or' as const, 'Not' as const);
  const first = mayTurn ? fc.oneof(item, item.map(turned)) : item;
  return fc
    .tuple(first, fc.array(fc.record({ joiner, item }), { maxLength: 4 }))
    .map(([start, steps]) => joined(start, steps));
}

// A Not before a group occurs only outside parentheses: inside them the reference implementation counts both as one.
const inner = sequence(condition, true).map(grouped);
const middle = sequence(fc.oneof(condition, inner), false).map(grouped);
const filter = sequence(fc.oneof(condition, inner, middle), true);

const record: fc.Arbitrary<Record> = fc.record({
  City: fc.oneof(value, fc.constant(null)),
  BedroomsTotal: fc.oneof(number, fc.constant(null)),
  Appliances: fc.uniqueArray(value, { maxLength: 3 }),
});

describe('a filter', () => {
  it('returns exactly the records that its words mean', () => {
    fc.assert(
      fc.property(filter, fc.array(record, { minLength: 1, maxLength: 8 }), (meant, records) => {
        const tree = bound(meant.filter);
        assert.ok(tree);
        for (const one of records) assert.equal(evaluate(tree, one) === true, meant.holds(one), meant.filter);
      }),
      { seed: 2026, numRuns: runsOf(1500) },
    );
  });

  it('keeps texts unchanged', () => {
    // A backslash before a quote, and wildcards, belong to the language.
    const plain = fc.string({ unit: anyCharacter, maxLength: 30 }).filter((word) => !/[\\*?]/.test(word));
    fc.assert(
      fc.property(plain, (word) => {
        const tree = bound(`City Eq '${word.replaceAll("'", "\\'")}'`);
        assert.deepEqual(tree, compare('eq', ref('City'), text(word)));
      }),
      { seed: 5, numRuns: runsOf(1000) },
    );
  });

  it('has the same meaning in any case of its reserved words and with any white space', () => {
    const spaces = fc.stringMatching(/^[ \t]{1,3}$/);
    const change = fc.constantFrom(
      (word: string) => word.toLowerCase(),
      (word: string) => word.toUpperCase(),
      (word: string) => word,
    );
    fc.assert(
      fc.property(filter, spaces, change, (meant, space, cased) => {
        const other = meant.filter
          .replace(/\b(?:Eq|Ne|Ge|Lt|Bt|And|Or|Not)\b/g, cased)
          .replaceAll(' ', space);
        assert.deepEqual(bound(other), bound(meant.filter));
      }),
      { seed: 11, numRuns: 200 },
    );
  });
});
