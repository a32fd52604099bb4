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
