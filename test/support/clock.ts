import assert from 'node:assert/strict';
import { parseRecord } from '../../src/records/parse-record.ts';
import type { Clock } from '../../src/shared/clock.ts';
import type { Store } from '../../src/store/store.ts';
import { WRITE_LIMITS, type WriteLimits } from '../../src/store/write/time-limits.ts';

/** A clock that stands still until a test sets it, in either direction. */
export interface TestClock extends Clock {
  /** @param moment an ISO text */
  set(moment: string): void;
  advance(milliseconds: number): void;
  /** The time in the form of timestamps. */
  text(): string;
}

export const SECOND = 1000;
export const DAY = 86_400 * SECOND;

/** The moment at which the clock of most tests starts. */
const USUAL = '2026-06-01T12:00:00.500Z';

/** A sleep on this clock returns at once, but advances the clock. */
export function testClock(moment = USUAL): TestClock {
  let now = Date.parse(moment);
  return {
    now: () => now,
    sleep: async (milliseconds) => {
      now += milliseconds;
    },
    set: (text) => {
      now = Date.parse(text);
    },
    advance: (milliseconds) => {
      now += milliseconds;
    },
    text: () => new Date(now).toISOString().replace('.000Z', 'Z'),
  };
}

/**
 * What happened to an empty store that tests copy since its creation, which is before the time of all tests, since timestamps never
 * go backwards. It was opened at the usual moment, so that no copy has to begin a day and to compact its changes; and before that,
 * the fields of most tests came into use, so that the first record of a copy does not change its tables.
 */
export type Prepared = 'created' | 'opened at the usual moment' | 'with usual fields';

/** @param machine what a store knows about its machine: if it is given, the store keeps readings of the clock from its first opening on */
export function preparedFor(clock: Clock, machine: unknown, hasUsualFields = false): Prepared {
  if (machine !== undefined || clock.now() !== Date.parse(USUAL)) return 'created';
  return hasUsualFields ? 'with usual fields' : 'opened at the usual moment';
}

/** Records with the fields of most tests. */
const USUAL_RECORDS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  Office: { OfficeKey: 'O', OfficeName: 'Office' },
  Member: { MemberKey: 'M', MemberFullName: 'Agent', MemberEmail: 'agent@mail.example', OfficeKey: 'O' },
  Property: {
    ListingKey: 'A',
    ListPrice: 1,
    City: 'Rome',
    BedroomsTotal: 1,
    YearBuilt: 2000,
    PublicRemarks: 'Sun',
    PrivateRemarks: 'Key',
    CloseDate: '2020-01-01',
    OnMarketDate: '2020-01-01',
    InternetEntireListingDisplayYN: true,
    InternetAddressDisplayYN: true,
    Media: [{ MediaKey: 'P', MediaCategory: 'Photo', Order: 1, ShortDescription: 'Front' }],
    Rooms: [{ RoomKey: 'R', RoomType: 'Kitchen' }],
    OpenHouses: [{ OpenHouseKey: 'H', OpenHouseStartTime: '2020-01-01T10:00:00Z' }],
  },
};

/** For each transaction, an hour passes: it is rolled back, and its records are rejected, but their fields came into use before. */
function limitsOfNone(): WriteLimits {
  let elapsed = 0;
  return { ...WRITE_LIMITS, elapsed: () => (elapsed += 3_600_000) };
}

/** Creates a store to be copied. @param open opens it with a clock, and creates it if it does not exist */
export async function prepareStore(
  prepared: Prepared,
  open: (clock: Clock, limits?: WriteLimits) => Promise<Store>,
): Promise<void> {
  const store = await open(testClock('2020-01-01T00:00:00Z'), limitsOfNone());
  if (prepared === 'with usual fields') {
    for (const [resource, record] of Object.entries(USUAL_RECORDS)) {
      const model = await store.model();
      const parsed = parseRecord(model.resource(resource), record, model);
      assert.ok(parsed.ok, parsed.ok ? '' : parsed.invalid.reasons.join('; '));
      const { rejected } = await store.write(resource, [parsed.record]);
      assert.equal(rejected.length, 1);
    }
  }
  await store.close();
  if (prepared !== 'created') await (await open(testClock())).close();
}
