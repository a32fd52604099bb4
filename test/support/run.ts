/**
 * Runs all tests (`npm test`, `npm run test:full`), so many files beside each other as its argument says. It starts them
 * in the order of `startedFiles`, the dear ones first; the runner's own command would sort them by name, and at the end
 * one processor would wait for what began last. They have one PostgreSQL server.
 */
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { startServerOfRun } from './postgres-server.ts';
import { startedFiles } from './together.ts';

const concurrency = Number(process.argv[2]);
if (!Number.isInteger(concurrency) || concurrency < 1)
  throw new Error('usage: node test/support/run.ts FILES_BESIDE_EACH_OTHER');

// Before the server has its handlers, which end this process.
const broken = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => broken.abort());
const server = await startServerOfRun();

const files = startedFiles().map((file) => fileURLToPath(new URL(`../${file}`, import.meta.url)));
// Records are many small texts that die young.
const execArgv = ['--max-semi-space-size=64', `--import=${new URL('untraced.js', import.meta.url)}`];
const results = run({ files, concurrency, signal: broken.signal, execArgv });
results.on('test:fail', () => {
  process.exitCode = 1;
});
for await (const text of results.compose(spec)) process.stdout.write(text);
await server.stop('crash');
