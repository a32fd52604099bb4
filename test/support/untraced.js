/**
 * Loaded before each file of a run of all tests. `node:test` follows every promise, so that it can tell which test an error
 * that nobody catches comes from; that took a tenth of the time of all tests. Here it follows none: such an error ends its
 * file, which has failed, and is told with its stack. A file that is run by itself has it as usual.
 */
import { createHook } from 'node:async_hooks';
import { writeSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

// Threads and processes that a file starts are loaded with it, too.
if (isMainThread && process.argv[1]?.endsWith('.test.ts')) {
  const hooks = Object.getPrototypeOf(createHook({}));
  const { enable } = hooks;
  // The first hook of the process is that of the runner.
  hooks.enable = function untraced() {
    hooks.enable = enable;
    return this;
  };
  const fail = (error) => {
    writeSync(2, `${error instanceof Error ? error.stack : error}\n`);
    process.exit(1);
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
}
