/** Whether there is a store, and the initial contents of a new one, once its own tables exist. */
import { randomBytes } from 'node:crypto';
import { makeModel, type StoreModel } from '../../compile/model.ts';
import { countingRules } from '../../compile/values-in-use.ts';
import { dayFrom, timestampFrom } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import { checkTimeZone } from '../../records/local-time.ts';
import { declaredFields, EMPTY_PROFILE, extendProfile, fieldsOfNewStore } from '../../records/profile.ts';
import type { StoreSettings } from '../../records/settings.ts';
import { runTransaction } from '../rows/transaction.ts';
import type { WriteSession } from '../session.ts';
import { CommitTimestamps, initialTimestamps } from '../write/commit-timestamps.ts';
import { publishDictionary } from '../write/publish-dictionary.ts';
import { type MetaChange, timestampMeta, writeMeta, writeProfile } from './meta.ts';

/** What an address leads to; `incomplete` is an unfinished copy. */
export type StorePresence = 'nothing' | 'empty' | 'incomplete' | 'older store' | 'store';

/** Why there is no store. */
const NO_STORE = { empty: 'it is empty', incomplete: 'a copy into it is incomplete' };

/**
 * @param mayMake whether the store may not exist yet
 * @throws PlatError `storeMissing`, `storeNotOurs`
 */
export function mustBeStore(
  store: string,
  found: StorePresence,
  mayMake: boolean,
): Exclude<StorePresence, 'incomplete'> {
  if (found === 'nothing' && !mayMake) throw platError('storeMissing', { store });
  if (found !== 'incomplete' && (found !== 'empty' || mayMake)) return found;
  throw platError('storeNotOurs', { store, reason: NO_STORE[found] });
}

interface NewStore {
  readonly settings: StoreSettings;
  readonly epoch: string;
  /** The current time of the clock that sets timestamps; milliseconds since 1970. */
  readonly now: number;
  /** What an engine records about its tables. */
  readonly ofEngine?: MetaChange;
}

/** The model of a store with these settings before it exists. */
export const modelOfNewStore = (settings: StoreSettings): StoreModel =>
  makeModel({ generation: 1, epoch: '', settings, profile: EMPTY_PROFILE, day: dayFrom(0) });

/**
 * Writes the initial contents, inside a transaction. @param applyTables creates the tables of records, and whatever else the engine
 * needs
 */
export async function initializeStore<S extends WriteSession>(
  session: S,
  { settings, epoch, now, ofEngine }: NewStore,
  applyTables: (session: S, model: StoreModel) => Promise<void>,
): Promise<void> {
  checkTimeZone(settings.timeZone);
  const day = dayFrom(now);
  const first = { generation: 1, epoch, settings, day };
  const bare = makeModel({ ...first, profile: EMPTY_PROFILE });
  const declared = declaredFields(bare.dictionary, settings.declarations);
  const profile = extendProfile(EMPTY_PROFILE, [...fieldsOfNewStore(bare), ...declared]);
  const model = makeModel({ ...first, profile });
  const createdAt = timestampFrom(now);
  const secret = randomBytes(32).toString('base64url');
  await writeMeta(session, { ...ofEngine, ...first, secret, createdAt, lastStamp: createdAt });
  await writeProfile(session, profile);
  await applyTables(session, model);
  const given = initialTimestamps(createdAt);
  const times = { moment: now, settled: 0, lastStamp: createdAt, given, jump: 0 };
  const timestamps = new CommitTimestamps(times, { creates: true });
  await runTransaction(session, model, timestamps, null, publishDictionary);
  await writeMeta(session, { ...timestampMeta(timestamps), countingRules: countingRules(model) });
}
