/**
 * The webhooks of a store: their targets, their positions, and the outcome of the last attempt. All processes of the store share
 * them; one process at a time holds a webhook and sends to it. This module knows neither HTTP nor the content of messages.
 */
import { textOrNull } from '../../compile/column-value.ts';
import { bind, integer, join, name, type Sql, sql } from '../../compile/fragment.ts';
import { Damage, storedTexts } from '../../records/damage.ts';
import type { OwnTables, Row } from '../session.ts';
import { ownColumns } from '../state/own-tables.ts';
import { type FeedPosition, parsePosition, positionText } from './change-feed.ts';

/** A webhook as an operator created it. */
export interface WebhookTarget {
  readonly id: string;
  readonly url: string;
  /** The token that requests carry, if the receiver gave one. */
  readonly bearer: string | null;
  readonly role: string;
  /** Originating systems; an empty list means all systems. */
  readonly systems: readonly string[];
  /** An empty list means all resources that the role reads. */
  readonly resources: readonly string[];
  /** Whether its host may be in a private network. */
  readonly privateHosts: boolean;
  /** A canonical timestamp. */
  readonly createdAt: string;
}

/** The secrets that sign messages, as the receiver knows them: `whsec_` and Base64. */
export interface WebhookSecrets {
  readonly secret: string;
  /** The previous secret, and the time until which it also signs, in milliseconds since 1970. */
  readonly former: { readonly secret: string; readonly until: number } | null;
}

/** The progress of a webhook's deliveries. Moments are milliseconds since 1970. */
interface WebhookState {
  /** Why nothing is sent; null if deliveries are running. */
  readonly paused: string | null;
  /** Everything up to here was delivered, or does not concern the webhook. */
  readonly position: FeedPosition;
  /** The last number of the batch that is being repeated. */
  readonly batchEnd: number | null;
  /** Events that were delivered. */
  readonly delivered: number;
  /** A canonical timestamp. */
  readonly deliveredAt: string | null;
  /** Failed attempts in a row. */
  readonly attempts: number;
  readonly failingSince: number | null;
  readonly nextAttempt: number;
  readonly lastError: string | null;
}

/** The process that sends to a webhook. */
interface Hold {
  readonly holder: string | null;
  /**
   * The time until which it holds the webhook unless it renews the hold, according to its own clock. Other processes cannot rely on
   * that clock: to them, a holder is dead if this value does not change for the duration of a hold.
   */
  readonly heldUntil: number;
}

export type Webhook = WebhookTarget & WebhookSecrets & WebhookState & Hold;

/** The hold of a process that has died. */
export interface DeadHold extends Hold {
  readonly holder: string;
}

/** The members of a webhook that can be changed. */
export type WebhookChange = Partial<WebhookState & WebhookSecrets>;

/** The state that must be unchanged when a process writes the outcome of an attempt. */
interface ExpectedState {
  readonly holder: string;
  readonly position: FeedPosition;
}

export interface WebhookStore {
  add(webhook: WebhookTarget & WebhookSecrets & WebhookState): Promise<void>;
  /** In the order of creation. */
  list(): Promise<readonly Webhook[]>;
  /** @returns whether the webhook exists and, if `asRead` is given, is still as it was read */
  update(id: string, change: WebhookChange, asRead?: ExpectedState): Promise<boolean>;
  /**
   * Takes a webhook that no other process holds, or renews the hold.
   * @param over a hold that no longer counts, if it is still as it was read
   * @returns whether the holder has it now
   */
  hold(id: string, holder: string, until: number, over?: DeadHold): Promise<boolean>;
  release(id: string, holder: string): Promise<void>;
  remove(id: string): Promise<boolean>;
}

const COLUMNS = ownColumns('plat_webhooks');

const NAMES = join([...COLUMNS.keys()].map(name), ', ');

export function webhookStoreOn({ reading, locked }: OwnTables): WebhookStore {
  return {
    add: ({ id, url, bearer, role, systems, resources, privateHosts, createdAt, ...changing }) =>
      locked(async ({ run, dialect }) => {
        const row = {
          ...{
            id,
            url,
            bearer,
            role,
            systems: JSON.stringify(systems),
            resources: JSON.stringify(resources),
          },
          ...{ private_hosts: privateHosts ? 1 : 0, created_at: createdAt },
          ...changedColumns(changing),
        };
        await run(sql`INSERT INTO plat_webhooks (${NAMES})
          SELECT ${NAMES} FROM ${dialect.objectTable(bind(JSON.stringify([row])), 'v', COLUMNS)}`);
      }),
    async list() {
      const rows = await reading.rows(sql`SELECT * FROM plat_webhooks ORDER BY created_at, id`);
      return rows.map(webhookOf);
    },
    update: (id, change, asRead) =>
      locked(async ({ run }) => {
        const set = Object.entries(changedColumns(change)).map(
          ([column, value]) => sql`${name(column)} = ${value === null ? sql`NULL` : bind(value)}`,
        );
        if (set.length === 0) return true;
        const isSame =
          asRead === undefined
            ? sql`TRUE`
            : sql`holder = ${bind(asRead.holder)} AND position = ${bind(positionText(asRead.position))}`;
        const updated = sql`UPDATE plat_webhooks SET ${join(set, ', ')} WHERE id = ${bind(id)} AND ${isSame}`;
        return (await run(updated)) > 0;
      }),
    hold: (id, holder, until, over) =>
      locked(async ({ run }) => {
        const isDead =
          over === undefined
            ? sql`FALSE`
            : sql`(holder = ${bind(over.holder)} AND held_until = ${integer(over.heldUntil)})`;
        // The value changes with each renewal, even if the clock was set back.
        const later = sql`CASE WHEN held_until >= ${integer(until)} THEN held_until + 1 ELSE ${integer(until)} END`;
        const held: Sql = sql`UPDATE plat_webhooks SET holder = ${bind(holder)}, held_until = ${later}
          WHERE id = ${bind(id)} AND (holder IS NULL OR holder = ${bind(holder)} OR ${isDead})`;
        return (await run(held)) > 0;
      }),
    release: (id, holder) =>
      locked(async ({ run }) => {
        await run(sql`UPDATE plat_webhooks SET holder = NULL, held_until = NULL
          WHERE id = ${bind(id)} AND holder = ${bind(holder)}`);
      }),
    remove: (id) =>
      locked(async ({ run }) => (await run(sql`DELETE FROM plat_webhooks WHERE id = ${bind(id)}`)) > 0),
  };
}

/** The columns of the members that a change contains. */
function changedColumns(change: WebhookChange): Record<string, string | number | null> {
  const columns: Record<string, string | number | null | undefined> = {
    secret: change.secret,
    former_secret: change.former === undefined ? undefined : (change.former?.secret ?? null),
    former_until: change.former === undefined ? undefined : (change.former?.until ?? null),
    paused: change.paused,
    position: change.position === undefined ? undefined : positionText(change.position),
    batch_end: change.batchEnd,
    delivered: change.delivered,
    delivered_at: change.deliveredAt,
    attempts: change.attempts,
    failing_since: change.failingSince,
    next_attempt: change.nextAttempt,
    last_error: change.lastError,
  };
  return Object.fromEntries(
    Object.entries(columns).flatMap(([column, value]) => (value === undefined ? [] : [[column, value]])),
  );
}

const numberOf = (raw: unknown): number | null => (raw === null || raw === undefined ? null : Number(raw));

/** @throws Damage for a position or a list that plat never writes */
function webhookOf(row: Row): Webhook {
  const id = String(row.id);
  const position = parsePosition(String(row.position));
  if (position === undefined) throw new Damage(`its webhook ${id} has an invalid position`);
  const former = textOrNull(row.former_secret);
  return {
    id,
    url: String(row.url),
    secret: String(row.secret),
    former: former === null ? null : { secret: former, until: Number(row.former_until) },
    bearer: textOrNull(row.bearer),
    role: String(row.role),
    systems: storedTexts(row.systems, `the systems of its webhook ${id}`),
    resources: storedTexts(row.resources, `the resources of its webhook ${id}`),
    privateHosts: Number(row.private_hosts) === 1,
    createdAt: String(row.created_at),
    paused: textOrNull(row.paused),
    position,
    batchEnd: numberOf(row.batch_end),
    delivered: Number(row.delivered),
    deliveredAt: textOrNull(row.delivered_at),
    attempts: Number(row.attempts),
    failingSince: numberOf(row.failing_since),
    nextAttempt: Number(row.next_attempt),
    lastError: textOrNull(row.last_error),
    holder: textOrNull(row.holder),
    heldUntil: Number(row.held_until ?? 0),
  };
}
