/**
 * Runs all tests (`npm test`, `npm run test:full`) with the concurrency that its argument gives. It starts them in the order of
 * `startedFiles`, the slowest first; the runner's own command would sort them by name, so that a processor would be idle at the end
 * while the last ones run. They share one PostgreSQL server.
 */
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { fillCompileCache } from './compile-cache.ts';
import { startServerOfRun } from './postgres-server.ts';
import { startedFiles } from './together.ts';

const concurrency = Number(process.argv[2]);
if (!Number.isInteger(concurrency) || concurrency < 1)
  throw new Error('usage: node test/support/run.ts FILES_BESIDE_EACH_OTHER');

// Registered before the handlers of the server, which end this process.
const broken = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => broken.abort());
const execArgv = [
  // Records consist of many small, short-lived texts.
  '--min-semi-space-size=16',
  '--max-semi-space-size=64',
  // Most tests end before so much is worth a search for garbage.
  '--initial-old-space-size=512',
  `--import=${new URL('untraced.js', import.meta.url)}`,
];
const [server] = await Promise.all([startServerOfRun(), fillCompileCache(execArgv)]);

const files = startedFiles().map((file) => fileURLToPath(new URL(`../${file}`, import.meta.url)));
const results = run({ files, concurrency, signal: broken.signal, execArgv });
results.on('test:fail', () => {
  process.exitCode = 1;
});
for await (const text of results.compose(spec)) process.stdout.write(text);
await server.stop('crash');
