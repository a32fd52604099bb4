/** A body with agents and offices may be as large as any response, and the memory of its parts is released. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LINK_MARK, type LinkedTexts } from '../../../src/compile/text/linked-texts.ts';
import type { ErrorCode } from '../../../src/errors/index.ts';
import { ByteStringMap, NO_TEXT } from '../../../src/shared/byte-string-map.ts';
import { FillBuffer, fillBody } from '../../../src/store/read/body-step.ts';
import { LinkedBody, LinkedFragments, linkHash } from '../../../src/store/read/linked-body.ts';
import { ownMemory } from '../../../src/store/read/page-memory.ts';

const linked: LinkedTexts = {
  id: 'one link',
  links: [{ name: 'agent', resource: 'Member', prefix: 'ListAgent', without: '' }],
  fragments: { text: '', values: [] },
};
const FRAGMENT = Buffer.from(',"ListAgentFullName":"Ann Ärtz"');
const marked = Buffer.from(`{"ListingKey":"1"${LINK_MARK}["M1"]${LINK_MARK}},{"ListingKey":"2"}`);
const filled = `{"ListingKey":"1"${FRAGMENT}},{"ListingKey":"2"}`;

test('a body that agents and offices make too large is rejected with 503, and its memory is released', () => {
  const texts = new ByteStringMap();
  const place = texts.put(Buffer.from('M1'), FRAGMENT);
  const page = new LinkedBody(marked, linked, { texts: [texts], find: () => place, put: () => undefined });
  const asked: number[] = [];
  let released = 0;
  const given = { body: marked, release: () => void released++ };
  const memory = (length: number) => {
    asked.push(length);
    return ownMemory(length);
  };
  const length = Buffer.byteLength(filled);
  assert.throws(() => fillBody(given, page, { memory }, undefined, length - 1), {
    code: 'answerTooLarge' satisfies ErrorCode,
    status: 503,
    message:
      'The response would be larger than 256 MB. Request fewer records at a time, or fewer expansions.',
  });
  assert.deepEqual([asked, released], [[], 1]);
  const { body } = fillBody(given, page, { memory }, undefined, length);
  assert.equal(Buffer.from(body).toString(), filled);
  assert.deepEqual([asked, released], [[length], 2]);
});

test('a body is filled while its placeholders are read, if the last one shows how much room it needs', () => {
  const body = Buffer.from(`${marked},${marked}`);
  const whole = `${filled},${filled}`;
  const length = Buffer.byteLength(whole);
  const texts = new ByteStringMap();
  texts.put(Buffer.from('M1'), FRAGMENT);
  const find = (_: number, bytes: Uint8Array, start: number, end: number) => texts.find(bytes, start, end);
  const fragments = new LinkedFragments();
  const asked: number[] = [];
  let released = 0;
  const memory = (size: number) => {
    asked.push(size);
    return { ...ownMemory(size), release: () => void released++ };
  };
  const pageIn = (room: FillBuffer) =>
    new LinkedBody(body, linked, { texts: [texts], find, put: () => undefined }, { room: room.take });
  const fill = () => {
    const room = new FillBuffer(body, { memory, fragments });
    const page = pageIn(room);
    const made = fillBody({ body, release: () => undefined }, page, { memory }, room);
    assert.equal(Buffer.from(made.body).toString(), whole);
    return page.written;
  };
  // The first room has the length of the body with its placeholders, so it is given back.
  assert.equal(fill(), undefined);
  assert.deepEqual([asked, released], [[body.length, length], 1]);
  assert.equal(fill(), length);
  assert.deepEqual([asked.slice(2), released], [[Math.ceil(1.02 * length)], 1]);
  // A fragment that has to be read first, in the middle of the body.
  texts.delete(Buffer.from('M1'));
  const room = new FillBuffer(body, { memory, fragments });
  const page = pageIn(room);
  assert.deepEqual([page.written, page.lacking], [undefined, [{ link: 'agent', key: 'M1' }]]);
});

test('a page of records that agents and offices make many times longer asks for no more room for the next one', () => {
  const asked: number[] = [];
  const memory = (size: number) => {
    asked.push(size);
    return ownMemory(size);
  };
  const making = { memory, fragments: new LinkedFragments() };
  const next = new FillBuffer(Buffer.alloc(1000), making);
  new FillBuffer(Buffer.alloc(100), making).finish(2000, undefined);
  assert.equal(next.take(), undefined);
  new FillBuffer(Buffer.alloc(100), making).finish(200, undefined);
  assert.equal(next.take()?.length, 2040);
  assert.deepEqual(asked, [2040]);
});

test('links without a key have their own texts, wherever they stand among the others', () => {
  const links = ['A', 'B', 'C', 'D'].map((name) => ({
    ...{ name, resource: 'Member', prefix: name, without: `,"${name}":null` },
  }));
  const keys = [
    ['a', 'b', 'c', 'd'],
    [null, null, 'c', null],
    ['a', null, null, 'd'],
    [null, null, null, null],
    [null, 'b', null, 'd'],
  ];
  const text = (own: (record: (string | null)[]) => string): string =>
    keys.map((record) => `{"K":1${own(record)}}`).join(',');
  const body = Buffer.from(text((record) => `${LINK_MARK}${JSON.stringify(record)}${LINK_MARK}`));
  const texts = links.map(({ name }) => {
    const own = new ByteStringMap();
    own.put(Buffer.from(name.toLowerCase()), Buffer.from(`,"${name}":1`));
    return own;
  });
  const find = (link: number, bytes: Uint8Array, start: number, end: number) =>
    texts[link]?.find(bytes, start, end) ?? -1;
  const page = new LinkedBody(body, { ...linked, links }, { texts, find, put: () => undefined });
  const to = Buffer.alloc(page.length);
  page.write(to);
  const own = (record: (string | null)[]) =>
    record.map((key, link) => `,"${links[link]?.name}":${key === null ? 'null' : 1}`).join('');
  assert.equal(to.toString(), text(own));
});

test('the parts of a body name the records that they contain by hashes, whatever characters the keys have', () => {
  const links = ['Member', 'Office'].map((resource) => ({
    name: resource,
    resource,
    prefix: '',
    without: '',
  }));
  const records = [
    [['M1', 'O1']],
    [
      ['Żyżyn', 'O"1'],
      [null, 'O\\2'],
    ],
    [[null, null]],
    [
      ['M1', null],
      ['M1', '😀'],
    ],
  ];
  const recordOf = (keys: readonly (string | null)[]): string =>
    `{"K":1${LINK_MARK}${JSON.stringify(keys)}${LINK_MARK}}`;
  const parts = records.map((part) => part.map(recordOf).join(','));
  const ends = parts.map((_, index) => Buffer.byteLength(parts.slice(0, index + 1).join(',')));
  const texts = links.map(() => new ByteStringMap());
  const find = (): number => NO_TEXT;
  const page = new LinkedBody(
    Buffer.from(parts.join(',')),
    { ...linked, links },
    { texts, find, put: () => undefined },
    { inPieces: true },
  );
  page.addFragments([{ link: 'Member', key: 'M1', text: ',"A":1' }]);
  const pieces = page.pieces(ends);
  assert.deepEqual(
    pieces.map((piece) => piece.links),
    records.map((part) => {
      const keys = part.flatMap((each) =>
        each.map((key, index) => ({ key, resource: links[index]?.resource })),
      );
      return new Set(keys.flatMap(({ key, resource = '' }) => (key === null ? [] : linkHash(resource, key))));
    }),
  );
  const filledParts = records.map((part) =>
    part.map(([key]) => `{"K":1${key === 'M1' ? ',"A":1' : ''}}`).join(','),
  );
  assert.deepEqual(
    pieces.map(({ length }) => length),
    filledParts.map((part) => Buffer.byteLength(part)),
  );
  const to = Buffer.alloc(page.length);
  page.write(to);
  assert.equal(to.toString(), filledParts.join(','));
});
