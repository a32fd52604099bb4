import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { makeKey, serialOf } from '../../packages/demo/src/keys.ts';
import {
  DOCUMENTS,
  type MediaName,
  mediaKey,
  mediaPath,
  parseMediaKey,
  parseMediaPath,
  SCENES,
} from '../../packages/demo/src/media-keys.ts';

const TIME = Date.parse('2026-03-04T05:06:07Z');
const LISTING = '20260304050607123456000000';

describe('keys', () => {
  it('are 26 digits that begin with the second of entry', () => {
    const key = makeKey('listing', TIME, 0);
    assert.match(key, /^\d{26}$/);
    assert.equal(key.slice(0, 14), '20260304050607');
  });

  it('differ for every serial number within one second, and can be converted back to it', () => {
    const keys = new Set<string>();
    for (let serial = 0; serial < 200_000; serial++) {
      const key = makeKey('listing', TIME, serial);
      keys.add(key);
      if (serial % 997 === 0) assert.equal(serialOf('listing', key), serial);
    }
    assert.equal(keys.size, 200_000);
  });

  it('convert back to serial numbers beyond a million', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 99_999_999_999 }),
        (serial) => serialOf('member', makeKey('member', TIME, serial)) === serial,
      ),
      { seed: 20260601, numRuns: 500 },
    );
  });

  it('of one kind are not valid for another', () => {
    assert.equal(serialOf('office', makeKey('member', TIME, 3)), undefined);
    assert.equal(serialOf('member', 'not a key'), undefined);
  });
});

const PLAIN = { noNullPrototype: true } as const;
const listing = fc.constant(LISTING);
const order = fc.integer({ min: 1, max: 99 });
const names: fc.Arbitrary<MediaName> = fc.oneof(
  fc.record(
    { kind: fc.constant('photo' as const), listing, order, scene: fc.constantFrom(...SCENES) },
    PLAIN,
  ),
  fc.record({ kind: fc.constant('tour' as const), listing, order, branded: fc.boolean() }, PLAIN),
  fc.record({ kind: fc.constant('video' as const), listing, order }, PLAIN),
  fc.record(
    { kind: fc.constant('document' as const), listing, order, about: fc.constantFrom(...DOCUMENTS) },
    PLAIN,
  ),
  fc.record(
    {
      kind: fc.constant('plan' as const),
      listing,
      number: fc.integer({ min: 1, max: 999_999 }),
      system: fc.constantFrom('M00000412', 'M00000587'),
    },
    PLAIN,
  ),
);

describe('media keys', () => {
  it('identify what they show and the listing', () => {
    assert.equal(
      mediaKey({ kind: 'photo', listing: LISTING, order: 3, scene: 'kitchen' }),
      `${LISTING}-P03-kitchen`,
    );
    assert.equal(
      mediaKey({ kind: 'plan', listing: LISTING, number: 2355, system: 'M00000412' }),
      `2355.M00000412.${LISTING}`,
    );
    assert.equal(
      mediaPath({ kind: 'document', listing: LISTING, order: 1, about: 'survey' }),
      `document/${LISTING}-D01-survey.pdf`,
    );
  });

  it('can be parsed', () => {
    fc.assert(
      fc.property(names, (name) => {
        assert.deepEqual(parseMediaKey(mediaKey(name)), name);
        const path = mediaPath(name);
        assert.deepEqual(parseMediaPath(path), { name, isDrawing: path.endsWith('.svg') });
      }),
      { seed: 20260601, numRuns: 300 },
    );
  });

  for (const path of [
    '',
    `photo/${LISTING}-P03-attic.svg`,
    `photo/${LISTING}-P03-kitchen.png`,
    `photo/${LISTING}-P3-kitchen.svg`,
    `tour/${LISTING}-P03-kitchen.svg`,
    `tour/${LISTING}-T01-plain.svg`,
    `video/${LISTING}-V01-run.svg`,
    `document/${LISTING}-D01-survey.svg`,
    `photo/../photo/${LISTING}-P03-kitchen.svg`,
    `photo/123-P03-kitchen.svg`,
    `plan/2355.M00000412.123.svg`,
    `plan/02355.M00000412.${LISTING}.svg`,
  ]) {
    it(`${JSON.stringify(path)} is not a path of this market`, () =>
      assert.equal(parseMediaPath(path), undefined));
  }
});
