/** Writes the files that `npm test` starts. */
import { startedFiles } from './together.ts';

process.stdout.write(
  startedFiles()
    .map((file) => `test/${file}\n`)
    .join(''),
);
