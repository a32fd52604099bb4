import { hash, randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import { dayFrom, timestampFrom } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import { makeModel } from '../model.ts';
import { declaredFields, EMPTY_PROFILE, extendProfile, initialFields } from '../profile.ts';
import type { StoreSettings } from '../settings.ts';
import { checkTimeZone } from '../text/local-time.ts';
import type { PostgresAddress } from './address.ts';
import { applyModel } from './apply-model.ts';
import { functionTexts, LOCK_CLASS } from './functions.ts';
import { readMeta, writeMeta, writeProfile } from './meta.ts';
import { OWN_TABLES } from './own-tables.ts';
import { readServer, type Server } from './server.ts';
import { type Session, withSession } from './session.ts';
import { SHARED_TABLES } from './shared-tables.ts';
import type { StampClock } from './stamp-clock.ts';

/** The version of the tables; a newer plat upgrades an older store, an older plat refuses a newer one. */
export const LAYOUT_VERSION = 1;

/** What lies in a schema. */
type Found = 'nothing' | 'store';

/**
 * Finds the store, or makes it, and brings the functions of plat up to date. Processes that do so at the same time
 * wait for each other, so that each thing is done once.
 * @throws PlatError when there is no store and none is to be made, or one that this plat does not know
 */
export async function prepareStore(
  pool: Pool,
  address: PostgresAddress,
  create: StoreSettings | undefined,
  clock: StampClock,
): Promise<void> {
  await withSession(pool, async (session) => {
    const server = await readServer(session, address.name);
    const found = await inspect(session, address);
    if (found === 'store' && (await isCurrent(session, server))) return;
    if (found === 'nothing' && create === undefined) throw platError('storeMissing', { store: address.name });
    await session.client.query(
      `BEGIN; SELECT pg_advisory_xact_lock(${LOCK_CLASS}, hashtext('${address.schema}'))`,
    );
    try {
      if ((await inspect(session, address)) === 'nothing' && create !== undefined) {
        await makeTables(session, address, server, create, clock);
      } else if (!(await isCurrent(session, server))) await makeFunctions(session, server);
      await session.run('COMMIT');
    } catch (error) {
      await session.run('ROLLBACK').catch(() => undefined);
      throw error;
    }
  });
}

async function inspect(session: Session, { schema, name }: PostgresAddress): Promise<Found> {
  const [row] = await session.rows(
    `SELECT to_regclass($1) IS NOT NULL AS store, (SELECT count(*) FROM pg_class c
     JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $2 AND c.relkind IN ('r', 'v', 'p')) AS tables`,
    [`${schema}.plat_meta`, schema],
  );
  if (row?.store === true) {
    const marked = await session.rows("SELECT 1 FROM plat_meta WHERE name = 'layout'");
    if (marked.length === 0) {
      throw platError('storeNotOurs', { store: name, reason: 'a copy into it has not come to its end' });
    }
    const { layout } = await readMeta(session);
    if (layout > LAYOUT_VERSION) {
      throw platError('storeTooNew', { store: name, found: layout, known: LAYOUT_VERSION });
    }
    return 'store';
  }
  if (Number(row?.tables) > 0) {
    throw platError('storeNotOurs', { store: name, reason: `its schema ${schema} holds other tables` });
  }
  return 'nothing';
}

/** All that is made anew when its text has changed. */
const renewable = ({ unicode }: Server): readonly string[] => [...functionTexts(unicode), ...SHARED_TABLES];

const functionsVersion = (server: Server): string =>
  hash('sha256', renewable(server).join('\n'), 'hex').slice(0, 16);

const isCurrent = async (session: Session, server: Server): Promise<boolean> =>
  (await readMeta(session)).functions === functionsVersion(server);

/** Functions, and whatever else is made anew when its text has changed. */
export async function makeFunctions(session: Session, server: Server): Promise<void> {
  for (const text of renewable(server)) await session.run(text);
  await writeMeta(session, { functions: functionsVersion(server) });
}

async function makeTables(
  session: Session,
  { schema }: PostgresAddress,
  server: Server,
  settings: StoreSettings,
  clock: StampClock,
): Promise<void> {
  checkTimeZone(settings.timeZone);
  const now = clock.now();
  const day = dayFrom(now);
  const bare = makeModel({ generation: 1, settings, profile: EMPTY_PROFILE, day });
  const declared = declaredFields(bare.dictionary, settings.declarations);
  const profile = extendProfile(EMPTY_PROFILE, [...initialFields(bare.dictionary), ...declared]);
  const model = makeModel({ generation: 1, settings, profile, day });
  await session.run(`CREATE SCHEMA IF NOT EXISTS "${schema}"`);
  for (const text of OWN_TABLES) await session.run(text);
  const createdAt = timestampFrom(now);
  const secret = randomBytes(32).toString('base64url');
  await writeMeta(session, { layout: LAYOUT_VERSION, generation: 1, settings, day, secret, createdAt });
  await writeMeta(session, { lastStamp: createdAt });
  await makeFunctions(session, server);
  await writeProfile(session, profile);
  await applyModel(session, model, createdAt);
}
