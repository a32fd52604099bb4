/** Preloaded (`NODE_OPTIONS=--import=…`): notes in the file that PLAT_TEST_LOADED names which modules a process loads. */
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const { PLAT_TEST_LOADED: file = '' } = process.env;

registerHooks({
  load(url, context, next) {
    appendFileSync(file, `${url}\n`);
    return next(url, context);
  },
});

// Node's own HTTP client, which reading some exports of `node:http` loads, as an import of that module does.
process.once('exit', () => {
  if (process.moduleLoadList.includes('NativeModule internal/deps/undici/undici'))
    appendFileSync(file, 'node:internal/deps/undici\n');
});
