/**
 * Which test files share a process: starting a process takes longer than most files do. The files share only compiled code, since
 * each has its own stores and services; each can also be run by itself.
 */
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const TESTS = fileURLToPath(new URL('../', import.meta.url));

/** The content of each process, by the name of its file in `test/`: folders, and single files. */
export const TOGETHER = {
  /** Pure functions. */
  pure: ['query', 'dictionary', 'records', 'demo', 'house.test.ts'],
  /** The responses of each interface. */
  interfaces: [
    'service/reso',
    'service/native',
    'service/access',
    'service/admin',
    'service/floorplans',
    'service/cache',
    'service/filter-index/failed-builds.test.ts',
  ],
  /** What all requests have in common, and rules for all interfaces. */
  connections: [
    'service/events/docs.test.ts',
    'service/events/http.test.ts',
    'service/events/sqlite.test.ts',
    'service/http',
    'service/invariants/order.test.ts',
    'service/invariants/parents.test.ts',
    'service/additions.test.ts',
    'service/damaged-records.test.ts',
    'service/docs-examples.test.ts',
    'service/epoch.test.ts',
    'service/large-answers.test.ts',
    'service/specification.test.ts',
    'service/expensive-requests.test.ts',
    'service/promised-date.test.ts',
  ],
  /** The console, most of it in a real browser. */
  console: ['service/console'],
  /** Clients by others, run as they are or replayed. */
  clients: [
    'clients/odata.test.ts',
    'clients/odata-client.test.ts',
    'clients/odata-query.test.ts',
    'clients/odata2ts.test.ts',
    'clients/replay.test.ts',
    'clients/reso-replicator.test.ts',
    'clients/ts-odata-client.test.ts',
  ],
  /** The rooms of the consumer. */
  consumer: [
    'replica/copy',
    'replica/floorplans',
    'replica/follow',
    'replica/http',
    'replica/machine',
    'replica/media',
    'replica/offsets.test.ts',
    'replica/run',
    'replica/source',
    'webhooks',
  ],
  /** Complete replicas. */
  replicas: [
    'replica/back-in-time.test.ts',
    'replica/bad-keys.test.ts',
    'replica/bad-sources.test.ts',
    'replica/hostile-records.test.ts',
    'replica/incidents.test.ts',
    'replica/keys.test.ts',
    'replica/live-demo.test.ts',
    'replica/onward.test.ts',
    'replica/promises.test.ts',
    'replica/short-walks.test.ts',
    'replica/simulation/endings.test.ts',
    'replica/store-away.test.ts',
    'replica/traps.test.ts',
    'replica/wrong-clock.test.ts',
  ],
  /** Copies that are compared with their source, and the handling of deleted records. */
  copies: [
    'replica/absent-postgres.test.ts',
    'replica/absent.test.ts',
    'replica/first-contact.test.ts',
    'replica/interfaces.test.ts',
    'replica/logged-work.test.ts',
    'replica/verify',
  ],
  /** SQLite, and the compilation for both engines. */
  stores: [
    'compile',
    'engines/sqlite',
    'shared',
    'store/changes',
    'store/files',
    'store/read',
    'store/rows',
    'store/sqlite.test.ts',
    'store/time',
    'store/views.test.ts',
    'store/whole',
    'store/write',
  ],
  /** PostgreSQL, for tests that do not stop the server. */
  server: [
    'engines/postgres/address.test.ts',
    'engines/postgres/announcements.test.ts',
    'engines/postgres/copy-in.test.ts',
    'engines/postgres/migrations.test.ts',
    'engines/postgres/opening.test.ts',
    'engines/postgres/partitions.test.ts',
    'engines/postgres/pattern.test.ts',
    'engines/postgres/privileges.test.ts',
    'engines/postgres/round-trips.test.ts',
    'engines/postgres/row-bytes.test.ts',
    'engines/postgres/scopes.test.ts',
    'engines/postgres/shared.test.ts',
    'engines/postgres/texts.test.ts',
    'engines/postgres/work.test.ts',
    'service/events/postgres.test.ts',
    'store/engines-agree.test.ts',
  ],
  /** Standbys, and a primary that fails. */
  standbys: [
    'engines/postgres/failover.test.ts',
    'engines/postgres/read-servers.test.ts',
    'cli/read-stores.test.ts',
  ],
  /** Random queries, requests and histories on SQLite. */
  random: [
    'fuzz/sqlite.test.ts',
    'fuzz/placed.test.ts',
    'oracle/native.test.ts',
    'oracle/odata.test.ts',
    'replica/simulation/followed.test.ts',
    'replica/simulation/mutants.test.ts',
    'replica/simulation/native.test.ts',
    'replica/simulation/reso.test.ts',
    'visibility/sqlite.test.ts',
  ],
  /** The same on PostgreSQL, and stores of both engines. */
  servers: [
    'fuzz/postgres.test.ts',
    'oracle/postgres.test.ts',
    'replica/simulation/postgres.test.ts',
    'store/copy.test.ts',
    'store/partitions.test.ts',
  ],
  /** Processes that are killed, or run at the same time. */
  kills: [
    'calendar.test.ts',
    'cli/kill.test.ts',
    'cli/launcher.test.ts',
    'cli/package.test.ts',
    'cli/pty.test.ts',
    'engines/postgres/commit-order.test.ts',
    'replica/cli/tokens.test.ts',
    'service/events/kills.test.ts',
    'service/invariants/commit-order.test.ts',
  ],
  /** Commands that run until they are stopped, or are interrupted. */
  processes: [
    'cli/damaged-pages.test.ts',
    'cli/demo.test.ts',
    'cli/import-bounds.test.ts',
    'cli/processes.test.ts',
    'cli/secrets.test.ts',
    'cli/serve.test.ts',
    'cli/store-files.test.ts',
    'cli/stores.test.ts',
    'cli/webhooks.test.ts',
    'replica/cli/commands.test.ts',
    'replica/cli/watch.test.ts',
    'replica/processes.test.ts',
  ],
  /** Commands that share one process of plat. */
  commands: [
    'cli/documents',
    'cli/changes.test.ts',
    'cli/check.test.ts',
    'cli/clock.test.ts',
    'cli/data.test.ts',
    'cli/first-hour.test.ts',
    'cli/flags.test.ts',
    'cli/garbage-collector.test.ts',
    'cli/help.test.ts',
    'cli/import-bad-input.test.ts',
    'cli/import-documents.test.ts',
    'cli/import-infer.test.ts',
    'cli/import-siblings.test.ts',
    'cli/import-tables.test.ts',
    'cli/import-threads.test.ts',
    'cli/import.test.ts',
    'cli/cache-file-location.test.ts',
    'cli/nothing-in-silence.test.ts',
    'cli/open-with-retries.test.ts',
    'cli/outlines-file.test.ts',
    'cli/partitions.test.ts',
    'cli/restore.test.ts',
    'cli/start.test.ts',
    'cli/terminal.test.ts',
    'deploy',
    'replica/cli/failures.test.ts',
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** Files whose runs together would take hours in `npm run test:full`, where each has its own process. */
const LONG_IN_FULL: ReadonlySet<string> = new Set([
  ...TOGETHER.random,
  ...TOGETHER.servers,
  ...TOGETHER.kills,
  'store/sqlite.test.ts',
]);

/** Files that observe their process (memory, CPU time, slow clients) or change it; each needs its own. */
const ALONE: ReadonlySet<string> = new Set([
  'service/http/endings.test.ts',
  'service/http/shares.test.ts',
  'service/http/slow-clients.test.ts',
]);

const isFull = process.env.PLAT_FULL === '1';

const filesOf = (paths: readonly string[]): string[] =>
  globSync(
    paths.flatMap((path) => (path.endsWith('.test.ts') ? path : `${path}/**/*.test.ts`)),
    { cwd: TESTS },
  )
    .filter((file) => !ALONE.has(file) && !(isFull && LONG_IN_FULL.has(file)))
    .toSorted();

/** Runs tests in this process. */
export async function runTogether(name: keyof typeof TOGETHER): Promise<void> {
  for (const file of filesOf(TOGETHER[name])) await import(new URL(`../${file}`, import.meta.url).href);
}

/** The slowest files in `npm test`, where properties have a tenth of their runs, in descending order. */
const LONG: readonly string[] = [
  // It would end last.
  'store/postgres-writing.test.ts',
  // These wait most of the time.
  'kills.test.ts',
  'engines/postgres/faults.test.ts',
  'engines/postgres/unresponsive.test.ts',
  'console.test.ts',
  'processes.test.ts',
  'commands.test.ts',
  'interfaces.test.ts',
  'random.test.ts',
  'servers.test.ts',
  'server.test.ts',
  'store/postgres-reading.test.ts',
  'copies.test.ts',
  'connections.test.ts',
  'replicas.test.ts',
  'stores.test.ts',
  'consumer.test.ts',
  'replica/cli/killed.test.ts',
  'standbys.test.ts',
  'engines/postgres/abandoned.test.ts',
  'visibility/postgres.test.ts',
  'pure.test.ts',
];

/** The slowest files in a run of all tests, above all in `npm run test:full`, in descending order. */
const DEAR: readonly string[] = [
  'calendar.test.ts',
  // These wait most of the time.
  'standbys.test.ts',
  'engines/postgres/unresponsive.test.ts',
  'replica/simulation/postgres.test.ts',
  'replica/cli/killed.test.ts',
  'cli/kill.test.ts',
  'replica/simulation/reso.test.ts',
  'replica/simulation/native.test.ts',
  'oracle/postgres.test.ts',
  'oracle/odata.test.ts',
  'oracle/native.test.ts',
  'store/partitions.test.ts',
  'store/postgres-reading.test.ts',
  'store/postgres-writing.test.ts',
  'replica/simulation/mutants.test.ts',
  'visibility/postgres.test.ts',
  'fuzz/postgres.test.ts',
  'service/invariants/commit-order.test.ts',
  'fuzz/sqlite.test.ts',
  'visibility/sqlite.test.ts',
  'engines/postgres/commit-order.test.ts',
  'store/copy.test.ts',
  'store/sqlite.test.ts',
  'cli/package.test.ts',
  'commands.test.ts',
  'processes.test.ts',
  'console.test.ts',
  'stores.test.ts',
  'server.test.ts',
  'clients.test.ts',
  'connections.test.ts',
  'replicas.test.ts',
  'interfaces.test.ts',
  'pure.test.ts',
  'consumer.test.ts',
  'copies.test.ts',
  'fuzz/placed.test.ts',
];

/** The files that a run of all tests starts, relative to `test/`, in order. */
export function startedFiles(): string[] {
  const groups = Object.entries(TOGETHER).map(([name, paths]) => ({ name, files: filesOf(paths) }));
  const shared = new Set(groups.flatMap((group) => group.files));
  const empty = new Set(groups.flatMap((group) => (group.files.length > 0 ? [] : [`${group.name}.test.ts`])));
  const files = globSync('**/*.test.ts', { cwd: TESTS })
    .filter((file) => !shared.has(file) && !empty.has(file))
    .toSorted();
  const first = isFull ? DEAR : LONG;
  const unknown = first.filter((file) => !files.includes(file));
  if (unknown.length > 0) throw new Error(`no files that are started: ${unknown.join(', ')}`);
  return [...first, ...files.filter((file) => !first.includes(file))];
}
