import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { read } from './show.ts';

describe('functions of literals', () => {
  const cases: readonly (readonly [string, string])[] = [
    ["A Eq toupper('äß')", 'A Eq character:ÄSS'],
    ["A Eq trim(' a\t')", 'A Eq character:a'],
    ["A Eq length('a🏡c')", 'A Eq integer:3'],
    ["A Eq substring('a🏡cd',1)", 'A Eq character:🏡cd'],
    ["A Eq substring('abcd',1,2)", 'A Eq character:bc'],
    ["A Eq substring('abcd',9)", 'A Eq character:'],
    ["A Eq indexof('a🏡cd','c')", 'A Eq integer:2'],
    ["A Eq indexof('abc','x')", 'A Eq integer:-1'],
    ["A Eq concat('a','b')", 'A Eq character:ab'],
    ["A Eq cast('10.7','integer')", 'A Eq integer:10'],
    ["A Eq cast('-10.7','integer')", 'A Eq integer:-10'],
    ["A Eq cast(' 1.5e2 ','decimal')", 'A Eq decimal:150.0'],
    ["A Eq cast('+5','integer')", 'A Eq integer:5'],
    ["A Eq cast('abc','integer')", 'A Eq null:NULL'],
    ["A Eq cast('1e999','decimal')", 'A Eq null:NULL'],
    ["A Eq cast(10,'decimal')", 'A Eq decimal:10.0'],
    ["A Eq cast(10,'character')", 'A Eq character:10'],
    ["A Eq cast(10.50,'character')", 'A Eq character:10.5'],
    ["A Eq cast(NULL,'character')", 'A Eq character:'],
    ["A Eq cast(NULL,'integer')", 'A Eq integer:0'],
    ["A Eq cast(NULL,'decimal')", 'A Eq decimal:0.0'],
    ['A Eq round(2.5)', 'A Eq integer:3'],
    ['A Eq ceiling(2.1)', 'A Eq integer:3'],
    ['A Eq floor(-2.1)', 'A Eq integer:-3'],
    ['A Eq date(2013-07-26T23:00:00-06:00)', 'A Eq date:2013-07-26'],
    ['A Eq time(2013-07-26T23:00:05.25-06:00)', 'A Eq time:23:00:05.25'],
    ['A Eq time(2013-07-26T23:00)', 'A Eq time:23:00:00'],
    ['A Eq year(2013-07-26)', 'A Eq integer:2013'],
    ['A Eq month(2013-07-26T23:00Z)', 'A Eq integer:7'],
    ['A Eq day(2013-07-26)', 'A Eq integer:26'],
    ['A Eq hour(2013-07-26T23:01:05)', 'A Eq integer:23'],
    ['A Eq minute(2013-07-26T23:01:05)', 'A Eq integer:1'],
    ['A Eq second(2013-07-26T23:01:05)', 'A Eq integer:5'],
    ['A Eq fractionalseconds(2013-07-26T23:01:05.25)', 'A Eq decimal:0.25'],
    ['A Eq fractionalseconds(2013-07-26T23:01:05)', 'A Eq decimal:0.0'],
    ['A Eq dayofyear(2024-12-31)', 'A Eq integer:366'],
    ['A Eq dayofweek(2026-03-15)', 'A Eq integer:0'],
  ];
  for (const [text, expected] of cases) it(text, () => assert.equal(read(text), expected));
});
