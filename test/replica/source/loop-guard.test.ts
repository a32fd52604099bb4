/** Walks that would not end are detected and rejected with the reason. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RecordName } from '../../../src/records/record-name.ts';
import { LoopGuard } from '../../../src/replica/source/loop-guard.ts';
import type { WalkPosition } from '../../../src/replica/source/source.ts';

const link = (page: number): WalkPosition => ({ kind: 'link', url: `https://feed.example/?page=${page}` });
const token = (key: string): WalkPosition => ({ kind: 'token', token: key });
const keys = (...names: readonly string[]): RecordName[] =>
  names.map((key) => ({ resource: 'Property', key }));

const rejected = (message: string) => ({ name: 'RequestFailure', kind: 'rejected', message });

test('a link that comes twice is rejected', () => {
  const guard = new LoopGuard();
  guard.check(undefined, { next: link(2), keys: keys('1') });
  guard.check(link(2), { next: link(3), keys: keys('2') });
  assert.throws(
    () => guard.check(link(3), { next: link(2), keys: keys('3') }),
    rejected('The source gave the link https://feed.example/?page=2 twice: the walk would not end'),
  );
});

test('a page that links to itself is rejected', () => {
  assert.throws(
    () => new LoopGuard().check(link(2), { next: link(2), keys: keys('1') }),
    rejected('The source gave the link https://feed.example/?page=2 twice: the walk would not end'),
  );
});

test('a skip token that comes twice is rejected', () => {
  const guard = new LoopGuard();
  guard.check(undefined, { next: token('17'), keys: keys('16', '17') });
  guard.check(token('17'), { next: token('19'), keys: keys('18', '19') });
  assert.throws(
    () => guard.check(token('19'), { next: token('17'), keys: keys('20') }),
    rejected('The source gave the skip token 17 twice: the walk would not end'),
  );
});

test('a page that comes twice under different links is rejected', () => {
  const guard = new LoopGuard();
  guard.check(undefined, { next: link(2), keys: keys('1', '2') });
  assert.throws(
    () => guard.check(link(2), { next: link(3), keys: keys('1', '2') }),
    rejected('The source gave the same page twice: the walk would not end'),
  );
});

test('INCIDENT two pages that alternated under new links were followed for ever: a page is recognized after any other', () => {
  const guard = new LoopGuard();
  guard.check(undefined, { next: link(2), keys: keys('1', '2') });
  guard.check(link(2), { next: link(3), keys: keys('3', '4') });
  assert.throws(
    () => guard.check(link(3), { next: link(4), keys: keys('1', '2') }),
    rejected('The source gave the same page twice: the walk would not end'),
  );
});

test('a cycle of a thousand pages is rejected when it closes', () => {
  const guard = new LoopGuard();
  const page = (number: number): void =>
    guard.check(link(number), {
      next: link(number + 1),
      keys: keys(`${number % 1000}-a`, `${number % 1000}-b`),
    });
  for (let number = 0; number < 1000; number++) page(number);
  assert.throws(() => page(1000), rejected('The source gave the same page twice: the walk would not end'));
});

test('a page with the same records in another order is the same page', () => {
  const guard = new LoopGuard();
  guard.check(undefined, { next: link(2), keys: keys('1', '2') });
  assert.throws(
    () => guard.check(link(2), { next: link(3), keys: keys('2', '1') }),
    rejected('The source gave the same page twice: the walk would not end'),
  );
});

test('a record that comes at the edges of two pages is not a loop', () => {
  const guard = new LoopGuard();
  guard.check(undefined, { next: link(2), keys: keys('1', '2') });
  guard.check(link(2), { next: link(3), keys: keys('2', '3') });
  guard.check(link(3), { next: link(4), keys: keys('3', '4') });
});

test('pages of one record that alternate for ever: the hundredth page without a new record is rejected', () => {
  const guard = new LoopGuard();
  const page = (number: number): void =>
    guard.check(link(number), { next: link(number + 1), keys: keys(`${number % 3}`) });
  for (let number = 0; number < 102; number++) page(number);
  assert.throws(
    () => page(102),
    rejected('The source gave 100 pages without a new record: the walk would not end'),
  );
});

test('one record may come twice, as with a skip token that includes its own record (trap 5b)', () => {
  const guard = new LoopGuard();
  guard.check(undefined, { next: link(2), keys: keys('1') });
  guard.check(link(2), { next: link(3), keys: keys('1') });
});

test('the hundredth empty page in a row is rejected', () => {
  const guard = new LoopGuard();
  const empty = (page: number): void => guard.check(link(page), { next: link(page + 1), keys: [] });
  for (let page = 1; page < 100; page++) empty(page);
  assert.throws(
    () => empty(100),
    rejected('The source gave 100 pages without a record: the walk would not end'),
  );
});

test('empty pages with records between them are accepted', () => {
  const guard = new LoopGuard();
  for (let page = 1; page < 1000; page++) {
    guard.check(link(page), { next: link(page + 1), keys: page % 99 === 0 ? keys(`${page}`) : [] });
  }
});

test('more than three times the announced records, above ten thousand, are rejected', () => {
  const guard = new LoopGuard();
  const many = (page: number): RecordName[] =>
    Array.from({ length: 1000 }, (_, at) => ({ resource: 'Property', key: `${page}-${at}` }));
  for (let page = 1; page <= 12; page++) {
    guard.check(link(page), { next: link(page + 1), keys: many(page), total: 4000 });
  }
  assert.throws(
    () => guard.check(link(13), { next: link(14), keys: many(13), total: 4000 }),
    rejected('The source announced 4000 records and gave more than 13000: the walk would not end'),
  );
});

test('an announced number that equals the size of the page is ignored', () => {
  const guard = new LoopGuard();
  for (let page = 1; page <= 50; page++) {
    const keys = Array.from({ length: 1000 }, (_, at) => ({ resource: 'Property', key: `${page}-${at}` }));
    guard.check(link(page), { next: link(page + 1), keys, total: 1000 });
  }
});

test('without an announced number any number of records is accepted', () => {
  const guard = new LoopGuard();
  for (let page = 1; page <= 50; page++) {
    const many = Array.from({ length: 1000 }, (_, at) => ({ resource: 'Property', key: `${page}-${at}` }));
    guard.check(link(page), { next: link(page + 1), keys: many });
  }
});

test('the last page is not checked', () => {
  const guard = new LoopGuard();
  guard.check(undefined, { next: link(2), keys: keys('1', '2') });
  guard.check(link(2), { keys: keys('1', '2') });
});
