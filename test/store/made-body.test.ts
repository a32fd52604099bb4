/** A body with agents and offices may be as large as any response, and the memory of its parts is released. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LINK_MARK, type LinkedTexts } from '../../src/compile/text/linked-texts.ts';
import type { ErrorCode } from '../../src/errors/index.ts';
import { ByteTexts } from '../../src/shared/byte-texts.ts';
import { LinkedBody } from '../../src/store/linked-body.ts';
import { filledBody } from '../../src/store/made-body.ts';
import { ownMemory } from '../../src/store/page-memory.ts';

const linked: LinkedTexts = {
  id: 'one link',
  links: [{ name: 'agent', resource: 'Member', prefix: 'ListAgent', without: '' }],
  fragments: { text: '', values: [] },
};
const FRAGMENT = Buffer.from(',"ListAgentFullName":"Ann Ärtz"');
const marked = Buffer.from(`{"ListingKey":"1"${LINK_MARK}["M1"]${LINK_MARK}},{"ListingKey":"2"}`);
const filled = `{"ListingKey":"1"${FRAGMENT}},{"ListingKey":"2"}`;

test('a body that agents and offices make too large is rejected with 503, and its memory is released', () => {
  const texts = new ByteTexts();
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
  assert.throws(() => filledBody(given, page, { memory }, length - 1), {
    code: 'answerTooLarge' satisfies ErrorCode,
    status: 503,
    message:
      'The response would be larger than 256 MB. Request fewer records at a time, or fewer expansions.',
  });
  assert.deepEqual([asked, released], [[], 1]);
  const { body } = filledBody(given, page, { memory }, length);
  assert.equal(Buffer.from(body).toString(), filled);
  assert.deepEqual([asked, released], [[length], 2]);
});
