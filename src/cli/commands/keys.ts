import type { Command, OptionValues } from 'commander';
import { KEY_KINDS, type KeyRecord, keyValidity } from '../../access/index.ts';
import { timestampFrom } from '../../dictionary/index.ts';
import { failedError } from '../../errors/index.ts';
import { checkKeyName, createKey, mustBeValidKey, parseExpiry, revokeKey } from '../../store/keys/new-key.ts';
import type { Store } from '../../store/store.ts';
import { JSON_OPTION, KEY_WORDS, option, parseDuration, required, SYSTEM_OPTION } from '../options.ts';
import { print, printSecret, table } from '../output.ts';
import { defineStoreAction, idCommand } from '../store-command.ts';
import { reportLines } from '../terminal.ts';

const CONSOLE_HINT =
  'Log in with it at the console, at the address that "plat serve" prints. It sees everything, whatever its role.';

export function defineKeys(key: Command): void {
  const ofNew = [
    required('--name <name>', 'owner of the key'),
    option('--kind <kind>', 'interface that the key may use').choices(KEY_KINDS).default('replication'),
    option('--role <role>', 'role of the key').default('idx'),
    SYSTEM_OPTION(),
    option('--expires <date>', 'expiry date'),
    JSON_OPTION(),
  ];
  const create = key.command('create').description('create a key and print its token, once');
  const creating = async (store: Store, given: OptionValues): Promise<void> => {
    const { kind, json } = given;
    const made = await createKey(store, keyOf(given), KEY_WORDS);
    const output = json ? { json: { ...made.key, token: made.token } } : made.token;
    await printSecret(output, revokeUnreceived(store, made.key));
    // On stderr, since scripts take the token from stdout.
    if (kind === 'admin' && json !== true) reportLines(CONSOLE_HINT);
    // A time in the past is not an error, because the developer of a client may need an expired token.
    const end = made.key.expiresAt;
    if (end !== null && Date.parse(end) <= Date.now()) reportLines(`The key expired at ${end}.`);
  };
  defineStoreAction(create, ofNew, creating, {
    create: true,
    beforeCreation: (model, given) => mustBeValidKey(keyOf(given), model, KEY_WORDS),
  });
  const list = key.command('list').description('list keys and their usage');
  defineStoreAction(list, [JSON_OPTION()], async (store, { json }) => {
    const keys = await store.keys.list();
    print(keys, keyTable(keys, await store.now()), json);
  });
  const revoke = idCommand(key, 'revoke', 'revoke a key at once, in every running process');
  defineStoreAction(revoke, [JSON_OPTION()], async (store, { json }, id: string) => {
    if (!(await revokeKey(store, id))) throw unknownKey(id);
    print({ id, outcome: 'revoked' }, `${id} is revoked`, json);
  });
  const successor = 'create a successor with the same rights; the old key remains valid for a while';
  const overlapOption = option('--overlap <duration>', 'how long the old key remains valid').default('24h');
  const rotate = idCommand(key, 'rotate', successor);
  defineStoreAction(rotate, [overlapOption, JSON_OPTION()], async (store, { overlap, json }, id: string) => {
    const overlapping = parseDuration('--overlap', overlap, 0);
    const old = (await store.keys.list()).find((each) => each.id === id);
    if (old === undefined) throw unknownKey(id);
    const { name, kind, role, systems, expiresAt, revokedAt } = old;
    const end = [expiresAt, revokedAt].find((at) => at !== null && Date.parse(at) <= Date.now());
    if (revokedAt !== null || end !== undefined) {
      throw failedError(`The key ${id} ends or ended at ${end ?? revokedAt}.`);
    }
    const made = await createKey(store, { name, kind, role, systems, expiresAt });
    const output = json ? { json: { ...made.key, token: made.token, replaces: id } } : made.token;
    // The old token must stay valid until its owner has the new one.
    await printSecret(output, revokeUnreceived(store, made.key));
    await store.keys.revoke(id, timestampFrom(Date.now() + overlapping));
  });
}

/** Revokes a key whose token could not be delivered. */
const revokeUnreceived = (store: Store, { id }: KeyRecord) => ({
  what: `the token of the key ${id}`,
  undo: () => revokeKey(store, id),
  undone: 'it is revoked',
  left: `revoke it with "plat key revoke ${id}"`,
});

/** The new key that the options describe. */
function keyOf({ name, kind, role, system: systems, expires }: OptionValues) {
  return { name: checkKeyName(name), kind, role, systems, expiresAt: parseExpiry(expires, KEY_WORDS) };
}

const unknownKey = (id: string) => failedError(`There is no key ${id}.`);

/** Whether a key is valid, and until or since when. */
function stateOf(key: KeyRecord, now: number): string {
  const validity = keyValidity(key, now);
  if (!validity.valid) return `${validity.why} ${validity.why === 'revoked' ? key.revokedAt : key.expiresAt}`;
  const [end] = [key.revokedAt, key.expiresAt].filter((at) => at !== null).sort();
  return end === undefined ? 'valid' : `until ${end}`;
}

function keyTable(keys: Awaited<ReturnType<Store['keys']['list']>>, now: number): string[] {
  const head = [
    ...['id', 'name', 'kind', 'role', 'systems', 'state'],
    ...['requests', 'rows', 'bytes', 'last window', 'last sweep'],
  ];
  const rows = keys.map((key) => [
    key.id,
    key.name,
    key.kind,
    key.role,
    key.systems.join(' ') || 'all',
    stateOf(key, now),
    String(key.use.requests),
    String(key.use.rows),
    String(key.use.bytes),
    key.use.lastWindow ?? '-',
    key.use.lastSweepAt ?? '-',
  ]);
  return table([head, ...rows]);
}
