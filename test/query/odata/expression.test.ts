import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '../../../src/query/odata/nodes.ts';
import { parseExpressionText } from '../../../src/query/odata/parser.ts';
import { refusal } from './fixture.ts';

const parse = (text: string) => parseExpressionText({ option: '$filter', text });

/** The grouping of an expression, every operator in parentheses. */
function grouped(node: Node): string {
  switch (node.kind) {
    case 'literal':
      return 'text' in node.literal ? node.literal.text : node.literal.form;
    case 'path':
      return node.segments.map((segment) => ('name' in segment ? segment.name : segment.kind)).join('/');
    case 'not':
    case 'negate':
      return `(${node.kind} ${grouped(node.operand)})`;
    case 'binary':
      return `(${grouped(node.left)} ${node.operator} ${grouped(node.right)})`;
    case 'and':
    case 'or':
      return `(${node.operands.map(grouped).join(` ${node.kind} `)})`;
    case 'list':
      return `[${node.items.map(grouped).join(' ')}]`;
    default:
      return node.kind;
  }
}

test('operators have the precedence of the specification', () => {
  const expected: Record<string, string> = {
    'a or b and c or d': '(a or (b and c) or d)',
    'a and b or c and d': '((a and b) or (c and d))',
    '(a or b) and c': '((a or b) and c)',
    'a and (b and c)': '(a and (b and c))',
    'a eq b and c ne d': '((a eq b) and (c ne d))',
    'a lt b eq c gt d': '((a lt b) eq (c gt d))',
    'a eq b ne c': '((a eq b) ne c)',
    'a add b mul c sub d': '((a add (b mul c)) sub d)',
    'a sub b sub c': '((a sub b) sub c)',
    'a div b mod c divby d mul e': '((((a div b) mod c) divby d) mul e)',
    'a add 1 gt b mul 2': '((a add 1) gt (b mul 2))',
    'not a and b': '((not a) and b)',
    'not a eq b': '((not a) eq b)',
    'not not a': '(not (not a))',
    "not a in ('x')": '(not (a in [x]))',
    '-a mul b': '((negate a) mul b)',
    '-a has b': '(negate (a has b))',
    '- -1': '(negate -1)',
    'a sub -1': '(a sub -1)',
    "a add b in ('x','y')": '(a add (b in [x y]))',
    'a has b eq c': '((a has b) eq c)',
  };
  for (const [text, tree] of Object.entries(expected)) assert.equal(grouped(parse(text)), tree, text);
});

test('operators are accepted in any case and with any white space', () => {
  assert.equal(grouped(parse('a EQ b And\tNOT c\n oR d')), '(((a eq b) and (not c)) or d)');
  assert.equal(grouped(parse('not(a)and(b)')), '((not a) and b)');
});

test('lists after in contain literals, arrays contain any values', () => {
  assert.equal(grouped(parse('a in ()')), '(a in [])');
  assert.equal(grouped(parse("a in ( 'x' , null,-1, @p )")), '(a in [x null -1 p])');
  assert.equal(grouped(parse('a in ["x",\'y\',b]')), '(a in [x y b])');
  assert.equal(grouped(parse('a in (b)')), '(a in b)');
  assert.deepEqual(
    refusal(() => parse("a in ('x',b)")),
    ['syntax', '$filter: found no literal at position 11, expected literals in a list.'],
  );
  assert.deepEqual(
    refusal(() => parse('a in (b,c)')),
    ['syntax', '$filter: found , at position 8, expected ")", since a list holds only literals.'],
  );
});

test('a path keeps its segments and their positions', () => {
  assert.deepEqual(parse('$it/A/B.C/D(x=1)(2)/@E.f#g/$count($filter=h;search=i)'), {
    kind: 'path',
    start: 0,
    segments: [
      { kind: 'it', start: 0 },
      { kind: 'name', name: 'A', start: 4 },
      { kind: 'name', name: 'B.C', start: 6 },
      {
        kind: 'call',
        name: 'D',
        arguments: [
          { name: 'x', value: { kind: 'literal', literal: { form: 'integer', text: '1' }, start: 14 } },
        ],
        start: 10,
      },
      {
        kind: 'key',
        arguments: [{ value: { kind: 'literal', literal: { form: 'integer', text: '2' }, start: 17 } }],
        start: 16,
      },
      { kind: 'at', name: 'E.f#g', start: 20 },
      {
        kind: 'count',
        filter: { kind: 'path', segments: [{ kind: 'name', name: 'h', start: 42 }], start: 42 },
        search: { kind: 'word', text: 'i' },
        start: 27,
      },
    ],
  });
});

test('an invalid expression is rejected at the position of the error', () => {
  const end = 'an operator, such as eq or and, or the end';
  const wrong: Record<string, string> = {
    '': '$filter: found the end at position 1, expected a field, a value or a function.',
    'a eq': '$filter: found the end at position 5, expected a field, a value or a function.',
    'a b': `$filter: found b at position 3, expected ${end}.`,
    'a = b': `$filter: found = at position 3, expected ${end}.`,
    'a eq b)': `$filter: found ) at position 7, expected ${end}.`,
    '(a eq b': '$filter: found the end at position 8, expected ")" or an operator.',
    'a eq b and': '$filter: found the end at position 11, expected a field, a value or a function.',
    'contains(a,': '$filter: found the end at position 12, expected a field, a value or a function.',
    'contains(a b)': '$filter: found b at position 12, expected ")" or ",".',
    'A.B': '$filter: found the end at position 4, expected "(" or "/" after A.B.',
    $root: '$filter: found the end at position 6, expected "/" after $root.',
    $count: '$filter: found $count at position 1, expected a field, $it or $this.',
    'a/': '$filter: found the end at position 3, expected a name, any, all, $count or $filter after "/".',
    'a/$it': '$filter: found $it at position 3, expected a name, any, all, $count or $filter after "/".',
    'a/$filter eq 1': '$filter: found eq at position 11, expected "(" after $filter.',
    'any(x:x)': '$filter: found ( at position 4, expected a list and "/" in front of any.',
    'a/all()': '$filter: found ) at position 7, expected a variable, such as all(x: …).',
    'a/any(x.y:1)': '$filter: found x.y at position 7, expected a variable, such as any(x: …).',
    'a/any(x eq 1)': '$filter: found eq at position 9, expected ":" after the variable x.',
    'a/any(x:x eq 1': '$filter: found the end at position 15, expected ")" or an operator.',
    'a/$count($top=1)': 'The query option $top inside $filter is not known.',
    'cast(a)x': `$filter: found x at position 8, expected ${end}.`,
    'cast(a eq 1)': '$filter: found ) at position 12, expected "," and a type.',
    'cast(a,1)': '$filter: found 1 at position 8, expected a type, such as Edm.String.',
    'case(a)': '$filter: found ) at position 7, expected ":" after the condition.',
    'case(a:1': '$filter: found the end at position 9, expected ")" or ",".',
    '[1': '$filter: found the end at position 3, expected "]" or ",".',
    '{a:1}': '$filter: found a at position 2, expected a name in double quotes.',
    '{"a" 1}': '$filter: found 1 at position 6, expected ":".',
    '{"a":1': '$filter: found the end at position 7, expected "}" or ",".',
  };
  for (const [text, message] of Object.entries(wrong)) {
    assert.equal(refusal(() => parse(text))[1], message, text);
  }
});
