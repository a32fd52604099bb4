/** The operator's port: readiness, metrics, status and keys. */
import { platError } from '../../errors/index.ts';
import { spanText } from '../../store/clock-jump.ts';
import type { Store } from '../../store/store.ts';
import { aheadText } from '../../store/write/bring-back.ts';
import type { UsageRecorder } from '../access/usage.ts';
import { json, type Reply } from '../exchange.ts';
import type { Metrics } from '../metrics.ts';
import { PROBES, type Probed } from './probes.ts';

/** What the admin port reports on. */
export interface AdminContext {
  readonly store: Store;
  readonly metrics: Metrics;
  /** Keeps what keys did since their accounts were last written. */
  readonly usage: UsageRecorder;
  /** Further conditions of readiness, such as the freshness of a replica. */
  readonly readiness: readonly ReadinessCheck[];
}

export interface ReadinessCheck {
  readonly name: string;
  /** Undefined when all is well; else what is not. */
  check(): Promise<string | undefined>;
}

interface AdminRoute {
  /** What it gives, for people. */
  readonly gives: string;
  readonly type: string;
  /** Whether it needs no token: probes and scrapers have none. */
  readonly isOpen: boolean;
  readonly answer: (context: AdminContext) => Reply | Promise<Reply>;
}

const JSON_NAME = 'application/json';

/** The paths of the admin port: what answers them, and what describes them, both read this table. */
export const ADMIN_ROUTES: ReadonlyMap<string, AdminRoute> = new Map<string, AdminRoute>([
  [
    '/live',
    {
      gives: 'that the process runs',
      type: JSON_NAME,
      isOpen: true,
      answer: PROBES['/live'],
    },
  ],
  [
    '/ready',
    {
      gives: 'whether it can answer, and if not (503), why',
      type: JSON_NAME,
      isOpen: true,
      answer: (context) => PROBES['/ready'](probed(context)),
    },
  ],
  [
    '/metrics',
    {
      gives: 'figures for Prometheus',
      type: 'text/plain',
      isOpen: true,
      answer: (context) => PROBES['/metrics'](probed(context)),
    },
  ],
  [
    '/status',
    {
      gives: 'counts, lag and settings of the store',
      type: JSON_NAME,
      isOpen: false,
      answer: async ({ store }) => json(await store.status()),
    },
  ],
  [
    '/keys',
    {
      gives: 'every key with what it has used',
      type: JSON_NAME,
      isOpen: false,
      answer: async ({ usage, store }) => {
        await usage.flush();
        return json({ keys: await store.keys.list() });
      },
    },
  ],
]);

export const isOpenAdminPath = (path: string): boolean => ADMIN_ROUTES.get(path)?.isOpen ?? false;

export async function admin(context: AdminContext, path: string): Promise<Reply> {
  const route = ADMIN_ROUTES.get(path);
  if (route === undefined) throw platError('pathNotFound', { path });
  return route.answer(context);
}

/** What is wrong with the clock, or was when the store was last written to. */
async function clockProblem(store: Store): Promise<string | undefined> {
  const jump = await store.clockJump();
  if (jump > 0) {
    return `the clock was set ahead by ${spanText(jump)} since the store was last written to; nothing is written until it is right, or, if it was behind before and is right now, until a command with --allow-clock-jump says so`;
  }
  const ahead = await store.ahead();
  return ahead === undefined ? undefined : aheadText(ahead);
}

/** What keeps the service from being ready, by name; nothing when it is. */
export async function problemsOf({
  store,
  readiness,
}: Pick<AdminContext, 'store' | 'readiness'>): Promise<Readonly<Record<string, string>>> {
  const problems: Record<string, string> = {};
  try {
    await store.model();
    // Pages are bounded by it, and a server that is not the one to write to has none.
    await store.horizon();
    const problem = await clockProblem(store);
    if (problem !== undefined) problems.clock = problem;
  } catch {
    problems.store = 'the store cannot be used';
  }
  const trouble = store.trouble?.();
  if (trouble !== undefined) problems.store = trouble;
  for (const { name, check } of readiness) {
    const problem = await check();
    if (problem !== undefined) problems[name] = problem;
  }
  return problems;
}

const probed = (context: AdminContext): Probed => ({
  metrics: context.metrics,
  problems: () => problemsOf(context),
});
