import { hash } from 'node:crypto';
import type { PoolClient } from 'pg';

/** Statements that a connection keeps prepared; then another takes its place, and the server's memory is free. */
const MOST = 400;

/** Statements whose names a process remembers. */
const NAMES = 2000;

const names = new Map<string, string>();
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

function nameOf(text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  if (names.size >= NAMES) names.clear();
  const made = hash('sha256', text, 'base64url').slice(0, 22);
  names.set(text, made);
  return made;
}
