/** Every cell of the table of a sweep's states: the next state, or that the event is impossible. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  advanceSweep,
  ImpossibleEvent,
  type SweepEvent,
  type SweepState,
} from '../../../src/replica/machine/states.ts';

const SKIP = { kind: 'skip', skip: 1000 } as const;
const OUTCOME = { begun: 'B', keys: 40, deleted: 2, unsure: false } as const;
const WALK = { kind: 'walking', sweep: 5, base: 4, begun: 'B', keys: 20, digest: 'd', round: 2 } as const;

const STATES = {
  idle: { kind: 'idle', sweep: 4, last: OUTCOME },
  walking: { ...WALK, position: SKIP, previous: 'p' },
  deleting: { kind: 'deleting', sweep: 5, base: 4, begun: 'B', keys: 40, deleted: 2 },
  fetching: { kind: 'fetching', sweep: 5, begun: 'B', keys: 40, deleted: 2, unsure: false },
  guarded: { kind: 'guarded', sweep: 5, begun: 'B', rows: 30, of: 40 },
} as const satisfies Record<SweepState['kind'], SweepState>;

const EVENTS = {
  begin: { kind: 'begin', at: 'N' },
  page: {
    kind: 'page',
    next: { kind: 'skip', skip: 2000 },
    keys: 10,
    digest: 'e',
    total: 50,
    keyless: false,
    nameless: false,
  },
  end: { kind: 'end', keys: 3 },
  agree: { kind: 'agree', digest: 'e' },
  unsure: { kind: 'unsure', keys: 3 },
  lost: { kind: 'lost' },
  guard: { kind: 'guard', rows: 30, of: 40 },
  deleted: { kind: 'deleted', rows: 6 },
  purged: { kind: 'purged' },
  done: { kind: 'done' },
} as const satisfies Record<SweepEvent['kind'], SweepEvent>;

const begun = (sweep: number): SweepState => ({
  kind: 'walking',
  sweep,
  base: sweep,
  begun: 'N',
  keys: 0,
  digest: '',
  round: 1,
});

/** Events that are possible, with the next state; every other cell is impossible. */
const FOLLOWS: {
  readonly [S in SweepState['kind']]: { readonly [E in SweepEvent['kind']]?: SweepState };
} = {
  idle: { begin: begun(5) },
  walking: {
    page: {
      ...WALK,
      previous: 'p',
      position: { kind: 'skip', skip: 2000 },
      keys: 30,
      digest: 'e',
      total: 50,
    },
    end: { kind: 'deleting', sweep: 5, base: 4, begun: 'B', keys: 23, deleted: 0 },
    agree: {
      kind: 'walking',
      sweep: 6,
      base: 5,
      begun: 'B',
      keys: 0,
      digest: '',
      previous: 'e',
      round: 3,
    },
    unsure: { kind: 'fetching', sweep: 5, begun: 'B', keys: 23, deleted: 0, unsure: true },
    lost: { kind: 'walking', sweep: 6, base: 6, begun: 'B', keys: 0, digest: '', round: 3 },
  },
  deleting: {
    guard: { kind: 'guarded', sweep: 5, begun: 'B', rows: 30, of: 40 },
    deleted: { kind: 'deleting', sweep: 5, base: 4, begun: 'B', keys: 40, deleted: 8 },
    purged: { kind: 'fetching', sweep: 5, begun: 'B', keys: 40, deleted: 2, unsure: false },
  },
  fetching: { done: { kind: 'idle', sweep: 5, last: OUTCOME } },
  guarded: { begin: begun(6) },
};

for (const state of Object.values(STATES)) {
  for (const event of Object.values(EVENTS)) {
    const expected = FOLLOWS[state.kind][event.kind];
    test(`${event.kind} in ${state.kind}: ${expected?.kind ?? 'impossible'}`, () => {
      if (expected !== undefined) {
        assert.deepEqual(advanceSweep(state, event), expected);
        return;
      }
      assert.throws(
        () => advanceSweep(state, event),
        new ImpossibleEvent(`${event.kind} cannot happen in the state ${state.kind}`),
      );
    });
  }
}

test('the marks of two walks that agree count, those of a lost walk do not', () => {
  const second = advanceSweep(begun(5), EVENTS.agree);
  assert.deepEqual(second.kind === 'walking' && [second.base, second.sweep], [5, 6]);
  const again = advanceSweep(begun(5), EVENTS.lost);
  assert.deepEqual(again.kind === 'walking' && [again.base, again.sweep], [6, 6]);
});
