import { hash } from 'node:crypto';
import type { PoolClient } from 'pg';
import { BoundedCache } from '../../../shared/bounded-cache.ts';

/** Statements that a connection keeps prepared; then another takes its place, and the server's memory is free. */
const MOST = 400;

/** The names of statements, by their texts, which may be long. */
const names = new BoundedCache<string>('names of statements', { entries: 2000, bytes: 16 * 1024 * 1024 });
const prepared = new WeakMap<PoolClient, Set<string>>();

/** The name under which a connection keeps a statement: the same for the same text. */
export function keepPrepared(client: PoolClient, text: string): string {
  const name = nameOf(text);
  const kept = prepared.get(client);
  if (kept === undefined) prepared.set(client, new Set([name]));
  else kept.add(name);
  return name;
}

export const isFull = (client: PoolClient): boolean => (prepared.get(client)?.size ?? 0) > MOST;

/** Bytes of a name. */
const NAME = 40;

function nameOf(text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  const made = hash('sha256', text, 'base64url').slice(0, 22);
  return names.put(text, made, NAME);
}
