/** Every cell of the table of a copy's states: the next state, or that the event is impossible. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  advance,
  ImpossibleEvent,
  type LoadEvent,
  type LoadState,
} from '../../../src/replica/machine/states.ts';

const LINK = { kind: 'link', url: 'https://feed.example/2' } as const;
const TOKEN = { kind: 'token', token: '17' } as const;

const STATES = {
  new: { kind: 'new' },
  initial: { kind: 'initial', since: 'S', position: LINK, rows: 10, total: 99, round: 2 },
  filling: { kind: 'filling', since: 'S' },
  current: { kind: 'current', cursor: 'C', lastUpper: 'L' },
  updating: { kind: 'updating', cursor: 'C', upper: 'U', pass: 1, position: LINK, rows: 7 },
} as const satisfies Record<LoadState['kind'], LoadState>;

const EVENTS = {
  begin: { kind: 'begin', since: 'N' },
  page: { kind: 'page', next: TOKEN, rows: 5, total: 100 },
  end: { kind: 'end', fills: false },
  short: { kind: 'short', rows: 12, end: 'K' },
  nextPass: { kind: 'nextPass', rows: 5 },
  filled: { kind: 'filled' },
  window: { kind: 'window', upper: 'V' },
  lost: { kind: 'lost' },
  reported: { kind: 'reported', upTo: 'D' },
  refresh: { kind: 'refresh', since: 'N' },
} as const satisfies Record<LoadEvent['kind'], LoadEvent>;

const ANEW = { kind: 'initial', since: 'N', rows: 0, round: 1 } as const;

/** Events that are possible, with the next state; every other cell is impossible. */
const FOLLOWS: {
  readonly [S in LoadState['kind']]: { readonly [E in LoadEvent['kind']]?: LoadState };
} = {
  new: { begin: ANEW, refresh: ANEW },
  initial: {
    page: { kind: 'initial', since: 'S', position: TOKEN, rows: 15, total: 99, round: 2 },
    short: { kind: 'initial', since: 'S', rows: 0, round: 3, previous: { rows: 12, end: 'K' } },
    end: { kind: 'current', cursor: 'S' },
    lost: { kind: 'initial', since: 'S', rows: 0, round: 3 },
    refresh: ANEW,
  },
  filling: { filled: { kind: 'current', cursor: 'S' }, refresh: ANEW },
  current: {
    window: { kind: 'updating', cursor: 'C', upper: 'V', pass: 0, rows: 0 },
    reported: { kind: 'current', cursor: 'D', lastUpper: 'L' },
    refresh: ANEW,
  },
  updating: {
    page: { kind: 'updating', cursor: 'C', upper: 'U', pass: 1, position: TOKEN, rows: 12 },
    end: { kind: 'current', cursor: 'U', lastUpper: 'U' },
    nextPass: { kind: 'updating', cursor: 'C', upper: 'U', pass: 2, rows: 12 },
    lost: { kind: 'current', cursor: 'C', lastUpper: 'U' },
    refresh: ANEW,
  },
};

for (const state of Object.values(STATES)) {
  for (const event of Object.values(EVENTS)) {
    const expected = FOLLOWS[state.kind][event.kind];
    test(`${event.kind} in ${state.kind}: ${expected?.kind ?? 'impossible'}`, () => {
      if (expected !== undefined) {
        assert.deepEqual(advance(state, event), expected);
        return;
      }
      assert.throws(
        () => advance(state, event),
        new ImpossibleEvent(`${event.kind} cannot happen in the state ${state.kind}`),
      );
    });
  }
}

test('the last page of a download whose sub-data is requested separately leads to filling', () => {
  assert.deepEqual(advance(STATES.initial, { kind: 'end', fills: true }), { kind: 'filling', since: 'S' });
});

test('a page without a total keeps the known one, and adds none', () => {
  const { total: _, ...page } = EVENTS.page;
  assert.deepEqual(advance({ kind: 'initial', since: 'S', rows: 0, round: 1 }, page), {
    kind: 'initial',
    since: 'S',
    position: TOKEN,
    rows: 5,
    round: 1,
  });
});

test('the cursor moves only when the last page of a window has been stored', () => {
  const window = advance(STATES.current, EVENTS.window);
  const page = advance(window, EVENTS.page);
  const pass = advance(page, EVENTS.nextPass);
  const cursors = [window, page, pass, advance(pass, EVENTS.lost)].map((state) =>
    'cursor' in state ? state.cursor : undefined,
  );
  assert.deepEqual(cursors, ['C', 'C', 'C', 'C']);
  assert.deepEqual(advance(pass, EVENTS.end), { kind: 'current', cursor: 'V', lastUpper: 'V' });
});
