import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { nextToken, type Token } from '../../../src/query/native/parser.ts';

function tokens(text: string): Token[] {
  const reader = { text, offset: 0, position: 1 };
  const found: Token[] = [];
  for (let token = nextToken(reader); token.kind !== 'end'; token = nextToken(reader)) found.push(token);
  return found;
}

const seen = (text: string): string[] => tokens(text).map(({ kind, text: word }) => `${kind} ${word}`);

describe('the tokens of a filter', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['City Eq NULL', ['field City', 'operator Eq', 'null NULL']],
    ['a(B)', ['function a', '( (', 'field B', ') )']],
    // NULL is tried before names, even without a word boundary after it.
    ['Nullable', ['null Null', 'function able']],
    ['nullable', ['null null', 'function able']],
    ['NULLS', ['null NULL', 'field S']],
    ['nULL', ['function nULL']],
    // Reserved words in any case; with a digit they are names.
    ['EQ eq Eq eQ', ['operator Eq', 'operator Eq', 'operator Eq', 'operator Eq']],
    ['bT AND oR nOT', ['range Bt', 'conjunction And', 'conjunction Or', 'not Not']],
    [
      'add SUB Mul dIV mod',
      ['arithmetic Add', 'arithmetic Sub', 'arithmetic Mul', 'arithmetic Div', 'arithmetic Mod'],
    ],
    ['Eq2 Oregon', ['field Eq2', 'field Oregon']],
    ['true false', ['boolean true', 'boolean false']],
    ['truex', ['boolean true', 'function x']],
    ['True FALSE', ['field True', 'field FALSE']],
    ['2eq', ['integer 2', 'operator Eq']],
    ['10-5', ['integer 10', 'integer -5']],
    ['- 5', ['minus -', 'integer 5']],
    ['--5', ['minus -', 'integer -5']],
    ['1.5E-30 -1.5e3', ['decimal 1.5E-30', 'decimal -1.5e3']],
    ['1.5E+3', ['decimal 1.5', 'field E', 'unknown +', 'integer 3']],
    ['1.', ['integer 1', 'unknown .']],
    ['2013-07-26', ['date 2013-07-26']],
    ['2013-07-26T', ['date 2013-07-26', 'field T']],
    ['2013-07-26T10:22', ['datetime 2013-07-26T10:22']],
    ['2013-07-26T10:22:15.1+0100', ['datetime 2013-07-26T10:22:15.1+0100']],
    ['2013-07-26T10:22:15-01:00Z', ['datetime 2013-07-26T10:22:15-01:00', 'field Z']],
    ['2013-13-45', ['date 2013-13-45']],
    ['10:22:15.5', ['time 10:22:15.5']],
    [`10:22:15.${'1'.repeat(51)}`, [`time 10:22:15.${'1'.repeat(50)}`, 'integer 1']],
    [String.raw`'a\'b' '\\'`, [String.raw`character 'a\'b'`, String.raw`character '\\'`]],
    ["'a''b'", ["character 'a'", "character 'b'"]],
    ["''", ["character ''"]],
    ["'line\nline'", ["character 'line\nline'"]],
    ["'open", ["unknown '", 'function open']],
    ['"Group"."Field"', ['custom "Group"."Field"']],
    [
      '"G"."Field"',
      ['unknown "', 'field G', 'unknown "', 'unknown .', 'unknown "', 'field Field', 'unknown "'],
    ],
    ['"Group"."F"', ['custom "Group"."F"']],
    [
      '"Group"x"F"',
      ['unknown "', 'field Group', 'unknown "', 'function x', 'unknown "', 'field F', 'unknown "'],
    ],
    ['A\nB', ['field A', 'unknown \n', 'field B']],
    ['A\t B', ['field A', 'field B']],
    ['A_B', ['field A', 'unknown _', 'field B']],
    ['A=1', ['field A', 'unknown =', 'integer 1']],
    ['', []],
    [' \t ', []],
  ];
  for (const [text, expected] of cases) {
    it(`reads ${JSON.stringify(text)}`, () => assert.deepEqual(seen(text), expected));
  }

  it('counts positions in characters, from 1', () => {
    const text = "City Eq '🏡é' And A";
    assert.deepEqual(
      tokens(text).map(({ position }) => position),
      [1, 6, 9, 14, 18],
    );
  });

  it('reads every text to its end, with the position of each token', () => {
    const word = fc.constantFrom(
      'City',
      ' ',
      "'",
      '"',
      '-',
      '1.5',
      '\\',
      '(',
      'é',
      '🏡',
      '2013-07-26',
      'T',
      '.',
      '\n',
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 40 }), (words) => {
        const text = words.join('');
        const characters = [...text];
        let end = 0;
        for (const { text: word, position } of tokens(text)) {
          assert.ok(position > end);
          assert.match(characters.slice(end, position - 1).join(''), /^[\t ]*$/);
          end = position - 1 + [...word].length;
          assert.equal(
            characters
              .slice(position - 1, end)
              .join('')
              .toLowerCase(),
            word.toLowerCase(),
          );
        }
        assert.match(characters.slice(end).join(''), /^[\t ]*$/);
      }),
      { seed: 42, numRuns: 500 },
    );
  });
});
