/** Fragments of agents and offices that take the place of marks while an engine reads, or once it has read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LINK_MARK, type LinkedTexts } from '../../../src/compile/text/linked-texts.ts';
import { readBody } from '../../../src/store/read/body-step.ts';
import { LinkedFragments } from '../../../src/store/read/linked-body.ts';
import { ownMemory } from '../../../src/store/read/page-memory.ts';
import type { Links, StatementRequest, StatementResult } from '../../../src/store/read/read-steps.ts';
import { COMMIT } from '../../../src/store/rows/change-log.ts';

const statement = { text: '', values: [] };
const linked: LinkedTexts = {
  id: 'two links',
  links: [
    { name: 'agent', resource: 'Member', prefix: 'ListAgent', without: ',"ListAgentName":null' },
    { name: 'office', resource: 'Office', prefix: 'ListOffice', without: ',"ListOfficeName":null' },
  ],
  fragments: statement,
};
const linking = { linked, changes: statement };
const PAGE: StatementRequest = { gives: 'page', statement, slots: {}, isKept: true, limit: 10 };

/** What a snapshot reports of the changes since a position. */
const changes = (from: number, ...keys: string[]) => [
  { seq: from, resource: COMMIT, key: `commit ${from}` },
  ...keys.map((key, index) => ({ seq: from + 1 + index, resource: 'Member', key })),
  ...(keys.length === 0 ? [] : [{ seq: from + 1 + keys.length, resource: COMMIT, key: 'later' }]),
];

const find = ({ fragmentOf }: Links, key: string): string | undefined => {
  const bytes = Buffer.from(`"${key}"`);
  return fragmentOf?.(0, bytes, 1, bytes.length - 1)?.toString();
};

function begin(fragments: LinkedFragments, asked = PAGE) {
  const checked: (readonly [text: string, commas: readonly number[]])[] = [];
  const check = (body: Uint8Array, commas: () => readonly number[] = () => []): Uint8Array => {
    checked.push([Buffer.from(body).toString(), commas()]);
    return body;
  };
  const steps = readBody(asked, linking, { check, fragments, memory: ownMemory });
  const first = steps.next();
  assert.ok(first.done !== true);
  const [changed, page, ...rest] = first.value;
  assert.deepEqual(rest, []);
  const links = page?.links ?? assert.fail('the page has links');
  const heard = changed?.heard ?? assert.fail('the changes are heard');
  const end = (...given: StatementResult[]) => steps.next(given);
  return { links, heard, end, checked };
}

/** Reads a page of one agent, which brings the fragment into the cache. */
function filled(fragments: LinkedFragments, position: number, key: string): void {
  const { heard, end, links, checked } = begin(fragments);
  const rows = changes(position);
  heard(rows);
  assert.equal(find(links, key), undefined);
  const body = Buffer.from(`{"K":1${LINK_MARK}["${key}", null]${LINK_MARK}},{"K":2}`);
  const commas = [body.indexOf('},{') + 1];
  const asked = end({ rows }, { rows: [{ n: 2 }], body, commas });
  assert.ok(asked.done !== true);
  const slots = { links: JSON.stringify([{ link: 'agent', key }]) };
  assert.deepEqual(asked.value, [{ gives: 'rows', statement, slots, isKept: true }]);
  const last = end({ rows: [{ link: 'agent', key, text: Buffer.from(`,"\u0001Name":"${key}"`) }] });
  assert.equal(last.done, true);
  const text = `{"K":1,"ListAgentName":"${key}","ListOfficeName":null},{"K":2}`;
  assert.deepEqual(checked, [[text, [text.indexOf('},{') + 1]]]);
}

test('fragments that are known are found while a page is read, once its snapshot has reported the changes', () => {
  const fragments = new LinkedFragments();
  filled(fragments, 5, 'M1');
  const { heard, end, links, checked } = begin(fragments);
  assert.equal(links.count, 2);
  assert.equal(find(links, 'M1'), undefined, 'the snapshot is not known yet');
  const rows = changes(5);
  heard(rows);
  assert.equal(find(links, 'M1'), ',"ListAgentName":"M1"');
  assert.equal(find(links, 'M2'), undefined);
  assert.equal(links.fragmentOf?.(1)?.toString(), ',"ListOfficeName":null');
  const body = Buffer.from('{"K":1},{"K":2}');
  const last = end({ rows }, { rows: [{ n: 2 }], body, commas: [7] });
  assert.equal(last.done, true);
  assert.deepEqual(checked, [['{"K":1},{"K":2}', [7]]]);
});

test('a page does not get a fragment that a later snapshot has read while the page is read', () => {
  const fragments = new LinkedFragments();
  filled(fragments, 5, 'M1');
  const { heard, links } = begin(fragments);
  heard(changes(5));
  const other = begin(fragments);
  other.heard(changes(5));
  assert.equal(find(links, 'M1'), ',"ListAgentName":"M1"', 'nothing has changed');
  const later = begin(fragments);
  later.heard(changes(5, 'M9'));
  assert.equal(find(later.links, 'M1'), ',"ListAgentName":"M1"');
  assert.equal(find(links, 'M1'), undefined);
});

test('a page of blocks keeps all of its marks', () => {
  const { links } = begin(new LinkedFragments(), { ...PAGE, gives: 'records' });
  assert.deepEqual(links, { count: 2 });
});
