/**
 * Keys that an operator creates and revokes through the admin port, with the same rules as the command line
 * (store/keys/new-key.ts).
 */
import { KEY_KINDS } from '../../access/index.ts';
import { malformedError, platError, usageError } from '../../errors/index.ts';
import { checkKeyName, createKey, parseExpiry, revokeKey } from '../../store/keys/new-key.ts';
import type { Store } from '../../store/store.ts';
import type { AdminContext } from '../admin/admin-route.ts';
import { jsonReply, type Reply } from '../exchange.ts';
import type { DayOfKey } from './history-day.ts';
import { type BodyMembers, requireString } from './json-body.ts';

const IDLE: DayOfKey = { requests: 0, rows: 0, bytes: 0, limited: 0, busiest: 0 };

/** Every key with its total usage and its usage in the last day, and the limits of each kind of key. */
export async function allKeys({ store, days, limits }: AdminContext): Promise<Reply> {
  const records = await store.keys.list();
  const kinds = new Map(records.map(({ id, kind }) => [id, kind]));
  const day = await days.day();
  const used = day.keys((id) => Math.ceil(limits[kinds.get(id) ?? 'api'].seconds / 60));
  return jsonReply({ keys: records.map((key) => ({ ...key, lastDay: used.get(key.id) ?? IDLE })), limits });
}

/**
 * @throws PlatError `requestMalformed`; `optionInvalid` for an unknown kind; `usage` as in `createKey`, `checkKeyName` and
 * `parseExpiry`
 */
export async function newKey(store: Store, given: BodyMembers): Promise<Reply> {
  const name = checkKeyName(requireString(given, 'name'));
  const kindText = requireString(given, 'kind');
  const kind = KEY_KINDS.find((each) => each === kindText);
  if (kind === undefined) {
    throw platError('optionInvalid', { name: 'kind', value: kindText, expected: KEY_KINDS.join(', ') });
  }
  const { systems = [], expires } = given;
  if (!Array.isArray(systems) || !systems.every((each) => typeof each === 'string')) {
    throw malformedError('systems is not a list of strings');
  }
  const until = expires === undefined || expires === '' ? undefined : requireString(given, 'expires');
  const expiresAt = parseExpiry(until);
  if (expiresAt !== null && Date.parse(expiresAt) <= (await store.now())) {
    throw usageError(`Expires is ${until}, which is in the past: the key would never be valid.`);
  }
  const asked = { name, kind, role: requireString(given, 'role'), systems, expiresAt };
  const { key, token } = await createKey(store, asked);
  return { ...jsonReply({ key, token }), status: 201 };
}

/** The usage of a key in the last day. @throws PlatError `recordNotFound` */
export async function keyHistory({ store, days }: AdminContext, id: string): Promise<Reply> {
  const isKnown = (await store.keys.list()).some((key) => key.id === id);
  if (!isKnown) throw platError('recordNotFound', { resource: 'key' });
  return jsonReply((await days.day()).key(id));
}

/** @throws PlatError `recordNotFound` */
export async function endKey(store: Store, id: string): Promise<Reply> {
  if (!(await revokeKey(store, id))) throw platError('recordNotFound', { resource: 'key' });
  return { status: 204, headers: {}, body: [] };
}
