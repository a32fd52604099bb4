/** Regular expressions on the server have the meaning of RE2: both find the same texts. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import fc from 'fast-check';
import { Client } from 'pg';
import { RE2JS, RE2JSException } from 're2js';
import { serverPattern } from '../../../src/engines/postgres/pattern.ts';
import { postgresServer } from '../../support/postgres-server.ts';

const TEXTS = [
  '',
  'a',
  'A',
  'ab',
  'aab',
  'abab',
  'b\na',
  'a\n',
  'x-y_z 9',
  'Straße',
  'STRASSE',
  'ſoft S s',
  '\u212a k K',
  'İ ı i I',
  'Ωμέγα ω',
  'Ä ä é É',
  '中文 字',
  '\u0661 \u00a0 \t',
  '😀 [a-z] {2} (x) \\d ^$ .*+?|',
  'aaaaaaaaaaaaaaaaaaaa',
  '12:30:00',
  'a]b',
  '-',
];

const PATTERNS = [
  '',
  'a',
  '^a$',
  'a.b',
  'b.a',
  '(?s)b.a',
  '(?m)^a$',
  '(?i)straSSe',
  '(?i)a\\x01',
  '(?i)\\x00?a',
  '(?i)s',
  '(?i)k',
  '(?i)i',
  '(?i)[k-l]',
  '(?i)ω',
  '(?i)[^a-z]',
  '[^a]',
  '[]a]',
  '[^]a]+$',
  '[a-]',
  '[\\d\\-]+',
  '[[:alpha:]]+\\z',
  '[[:a]+',
  '(?)b$',
  '[[:^alpha:]]',
  '\\Aab*\\z',
  'a{2}',
  'a{2,3}b',
  'a{19,}',
  'a{0,300}b',
  'a{300}',
  'a{,2}',
  'a|b|',
  '(a|b)(c|)*',
  '(?:ab)+$',
  '(?P<name>a)(?<other>b)',
  '\\bk\\b',
  '\\B-',
  '\\d\\D\\w\\W\\s\\S',
  '\\pL+',
  '\\p{Lu}',
  '\\P{Greek}',
  '\\p{^Greek}',
  '[\\p{Han}a]',
  '\\x41',
  '\\x{4e2d}',
  '\\t',
  '\\141',
  '\\Q.*+?\\E',
  '\\Qab\\E+',
  '\\[a-z\\]',
  '\\$ \\.',
  'a*?b+?c??',
  '(?i:A)b',
  '(?i)a(?-i)B',
  '^*a',
  '(|a)+',
  '()',
  '.',
  '\\.',
  '(?U)a+',
  '$^',
  'é|É',
];

suite('postgres: patterns', () => {
  let client: Client;
  before(async () => {
    client = new Client({ connectionString: (await postgresServer()).address('postgres') });
    await client.connect();
  });
  after(() => client.end());

  /** Which of the texts match each of the patterns. */
  async function found(patterns: readonly string[], ignoreCase: boolean): Promise<string[][]> {
    const translated = patterns.map((pattern) => serverPattern(pattern, ignoreCase));
    const { rows } = await client.query<{ p: number; t: string }>(
      `SELECT p::integer, t FROM unnest($1::text[]) WITH ORDINALITY a(pattern, p), unnest($2::text[]) WITH ORDINALITY b(t, place)
       WHERE t COLLATE "C" ~ pattern ORDER BY p, place`,
      [translated, TEXTS],
    );
    return patterns.map((_, index) => rows.filter(({ p }) => p === index + 1).map(({ t }) => t));
  }

  const expected = (pattern: string, ignoreCase: boolean): string[] => {
    const compiled = RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
    return TEXTS.filter((text) => compiled.matcher(text).find());
  };

  for (const ignoreCase of [false, true]) {
    test(`every construct, ${ignoreCase ? 'in any case' : 'as it is written'}`, async () => {
      const all = await found(PATTERNS, ignoreCase);
      for (const [index, pattern] of PATTERNS.entries()) {
        assert.deepEqual(all[index], expected(pattern, ignoreCase), pattern);
      }
    });
  }

  test('a pattern is written with code points and classes alone', () => {
    assert.equal(serverPattern('k.^|b{2}', false), '(?:(?:k[^\\u000a](?:^)|bb))');
    assert.equal(serverPattern('\\d-?', true), '(?:[0-9](?:[\\u002d])?)');
    assert.equal(serverPattern('(?i)k', false), '(?:[Kk\\u212a])');
  });

  test('property: random combinations of patterns', async () => {
    const atom = fc.constantFrom(
      ...[
        'a',
        'b',
        'S',
        'k',
        '.',
        '\\d',
        '\\W',
        '[a-c]',
        '[^b]',
        '^',
        '$',
        '\\b',
        '\\pL',
        '\\n',
        'é',
        '(?i)s',
        '[[:upper:]_]',
      ],
    );
    const times = fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{1,3}', '*?', '+?');
    const { pattern } = fc.letrec<{ pattern: string; piece: string }>((tie) => ({
      piece: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        atom,
        fc.tuple(tie('pattern'), times).map(([inner, more]) => `(${inner})${more}`),
        fc.tuple(atom, times).map(([one, more]) => `(?:${one})${more}`),
        fc.tuple(tie('pattern'), tie('pattern')).map(([left, right]) => `(?:${left}|${right})`),
      ),
      pattern: fc.array(tie('piece'), { maxLength: 4 }).map((pieces) => pieces.join('')),
    }));
    const isPattern = (text: string): boolean => {
      try {
        RE2JS.compile(text);
        return true;
      } catch (error) {
        if (error instanceof RE2JSException) return false;
        throw error;
      }
    };
    const property = fc.asyncProperty(
      fc.array(pattern.filter(isPattern), { minLength: 20, maxLength: 20 }),
      fc.boolean(),
      async (patterns, ignoreCase) => {
        const all = await found(patterns, ignoreCase);
        for (const [index, each] of patterns.entries()) {
          assert.deepEqual(all[index], expected(each, ignoreCase), each);
        }
      },
    );
    await fc.assert(property, { seed: 20260601, numRuns: 30 });
  });
});
