/**
 * Notices a feed that the store has already under another name, as when `localhost` is written `127.0.0.1` in the next
 * command: a key belongs to one source, so all of its records would be put aside. It stores nothing.
 */
import { type PlatError, platError } from '../../errors/index.ts';
import type { Store } from '../../store/store.ts';
import { readState } from '../checkpoint/notes.ts';
import type { Source } from '../source/source.ts';
import { PAGE_SIZE } from './options.ts';

/** What the source of a copy is, which is asked for the first time. */
interface Newcomer {
  readonly name: string;
  /** As the book of a copy keeps it: the interface and the address. */
  readonly identity: string;
  readonly feed: Source;
}

/**
 * @returns wrong use that names the other source, where it has every record of the first page
 * @throws RequestFailure when the first page cannot be read
 */
export async function knownByAnotherName(
  store: Store,
  { name, identity, feed }: Newcomer,
): Promise<PlatError | undefined> {
  const { resources } = feed.capabilities;
  const resource = resources.find((each) => each === 'Property') ?? resources[0];
  const others = (await store.ledger.sources()).filter((other) => other !== name);
  if (resource === undefined || others.length === 0) return undefined;
  const held: string[] = [];
  for (const other of others) {
    if ((await store.ledger.storedKeys(other, resource, '', 1)).length > 0) held.push(other);
  }
  if (held.length === 0) return undefined;
  const page = await feed.page(resource, { kind: 'all' }, { position: undefined, size: PAGE_SIZE });
  const keys = page.keys.flatMap((each) => (each.resource === resource ? [each.key] : []));
  if (keys.length === 0) return undefined;
  for (const other of held) {
    if ((await store.ledger.missing(other, resource, keys)).length > 0) continue;
    const before = readState(await store.ledger.state(other), 'identity');
    const force =
      before === undefined || before === identity ? '' : ` --force (it was replicated from ${before})`;
    return platError('usage', {
      reason: `${store.name} has what ${name} gives already, from the source ${other}, and a key belongs to one source: nothing of it could be stored. Where it is the same feed, --source ${other}${force} goes on with that copy; another one takes a store of its own, or --force, with which what both have is put aside.`,
    });
  }
  return undefined;
}
