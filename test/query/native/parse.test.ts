import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { read } from './show.ts';

function table(title: string, cases: readonly (readonly [string, string])[]): void {
  describe(title, () => {
    for (const [text, expected] of cases)
      it(text === '' ? 'an empty text' : text, () => assert.equal(read(text), expected));
  });
}

table('the joining of conditions', [
  ['', 'nothing'],
  [' \t', 'nothing'],
  ['A Eq 1 And B Eq 2 Or C Eq 3', 'or{and{A Eq integer:1 B Eq integer:2} C Eq integer:3}'],
  ['A Eq 1 Or B Eq 2 And C Eq 3', 'or{A Eq integer:1 and{B Eq integer:2 C Eq integer:3}}'],
  ['A Eq 1 Not B Eq 2 Or C Eq 3', 'or{and{A Eq integer:1 not{B Eq integer:2}} C Eq integer:3}'],
  ['A Eq 1 Or B Eq 2 Not C Eq 3', 'or{A Eq integer:1 and{B Eq integer:2 not{C Eq integer:3}}}'],
  ['Not A Eq 1 And B Eq 2', 'and{not{A Eq integer:1} B Eq integer:2}'],
  ['Not (A Eq 1 And B Eq 2)', 'not{and{A Eq integer:1 B Eq integer:2}}'],
  ['Not (Not A Eq 1)', 'not{not{A Eq integer:1}}'],
  ['(Not (A Eq 1))', 'not{A Eq integer:1}'],
  // The reference implementation counts these two as one.
  ['(Not (Not A Eq 1))', 'not{A Eq integer:1}'],
  ['(Not (Not A Eq 1 And B Eq 2))', 'and{not{A Eq integer:1} B Eq integer:2}'],
  ['A Eq 1 And (B Eq 2 Or C Eq 3)', 'and{A Eq integer:1 or{B Eq integer:2 C Eq integer:3}}'],
  ['((A) Eq (1))', 'A Eq integer:1'],
  ['((A Eq 1))', 'A Eq integer:1'],
]);

table('the left side', [
  ['A Add 2 Mul 3 Eq 1', '(A Add integer:6) Eq integer:1'],
  ['A Add B Mul C Eq 1', '(A Add (B Mul C)) Eq integer:1'],
  ['A Sub B Sub C Eq 1', '((A Sub B) Sub C) Eq integer:1'],
  ['(A Sub (B Sub C)) Mul 2 Eq 1', '((A Sub (B Sub C)) Mul integer:2) Eq integer:1'],
  ['-A Mul 2 Eq 1', '(-(A) Mul integer:2) Eq integer:1'],
  ['--A Eq 1', 'A Eq integer:1'],
  ['A Add -(5) Eq 1', '(A Add integer:-5) Eq integer:1'],
  ['"The Group"."The Field" Eq 1', '[The Group|The Field] Eq integer:1'],
  ["substring(trim(A),1,2) Eq 'x'", 'substring(trim(A);integer:1;integer:2) Eq character:x'],
  ["concat(A,tolower('B')) Eq 'x'", 'concat(A;character:b) Eq character:x'],
  ["cast(A,'integer') Add 1 Eq 2", '(cast(A;character:integer) Add integer:1) Eq integer:2'],
  ["all(A) Eq 'x'", 'all(A) Eq character:x'],
]);

table('the right side', [
  ['A Eq (1,2)', 'A Eq integer:1,integer:2'],
  ['A Eq 1, 2 ,3', 'A Eq integer:1,integer:2,integer:3'],
  ["A Eq 'x',tolower('Y'),contains('z')", 'A Eq character:x,character:y,contains:z'],
  ["A Eq 'x',tolower(trim(' Y '))", 'A Eq character:x,character:y'],
  ['A Gt 2 Add 3 Mul 4', 'A Gt integer:14'],
  ['A Gt (2 Add 3) Mul 4', 'A Gt integer:20'],
  ['A Gt - 5 Add 3', 'A Gt integer:-2'],
  ['A Gt - - 5', 'A Gt integer:5'],
  ['A Gt 2 Sub -3', 'A Gt integer:5'],
  ['A Bt 1,2.5', 'A Bt integer:1,decimal:2.5'],
  ['A Bt floor(1.5),10', 'A Bt integer:1,integer:10'],
  ['A Bt 2020-01-01,now()', 'A Bt date:2020-01-01,now(0):datetime'],
  ['A Ge days(-7)', 'A Ge days(-7):date'],
  ['A Eq days(1),months(2)', 'A Eq days(1):date,months(2):date'],
  ['A Eq seconds(1),weekdays(-3)', 'A Eq seconds(1):datetime,weekdays(-3):date'],
  ['A Eq mindatetime()', 'A Eq datetime:1970-01-01T00:00:00Z'],
  ['A Eq maxdatetime()', 'A Eq datetime:9999-12-31T23:59:59Z'],
  ["A Eq regex('^a.c$','i')", 'A Eq regex/i:^a.c$'],
  ["A Eq regex('a','')", 'A Eq regex:a'],
  [String.raw`A Eq regex('\d\'')`, String.raw`A Eq regex:\d'`],
  ["A Eq startswith('x')", 'A Eq startswith:x'],
  ["A Ne endswith('x')", 'A Ne endswith:x'],
  ["A Eq range('M1','M4')", 'A Eq range:M1..M4'],
  ['A Eq 10:22', 'A Eq time:10:22'],
  ['A Eq null', 'A Eq null:null'],
  [String.raw`A Eq 'it\'s'`, "A Eq character:it's"],
]);
