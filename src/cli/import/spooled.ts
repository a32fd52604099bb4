/** Files that are read more than once: what can be read only once, such as stdin, is written to a file of its own first. */
import { createReadStream, createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type FileForm, formOf } from './file-form.ts';
import type { InputFile } from './text-source.ts';

export interface Inputs extends Disposable {
  readonly files: readonly InputFile[];
}

const nameOf = (path: string): string => (path === '-' ? 'stdin' : path);

export const once = (paths: readonly string[], asked: FileForm | undefined): Inputs => ({
  files: paths.map((path) => ({ path, name: nameOf(path), form: formOf(path, asked) })),
  [Symbol.dispose]: () => undefined,
});

/** Files as they are, and copies of what is no plain file, for their owner alone, until they are disposed of. */
export async function rereadable(
  paths: readonly string[],
  asked: FileForm | undefined,
  signal: AbortSignal,
): Promise<Inputs> {
  let folder: string | undefined;
  using owned = new DisposableStack();
  const files: InputFile[] = [];
  for (const [index, path] of paths.entries()) {
    const name = nameOf(path);
    const form = formOf(path, asked);
    if (path !== '-' && statSync(path).isFile()) {
      files.push({ path, name, form });
      continue;
    }
    if (folder === undefined) {
      const made = mkdtempSync(join(tmpdir(), 'plat-import-'));
      owned.defer(() => rmSync(made, { recursive: true, force: true }));
      folder = made;
    }
    const copy = join(folder, String(index));
    const from = path === '-' ? process.stdin : createReadStream(path);
    try {
      await pipeline(from, createWriteStream(copy, { mode: 0o600 }), { signal });
    } catch (error) {
      if (!signal.aborted) throw error;
      break; // nothing is read any more
    }
    files.push({ path: copy, name, form });
  }
  const kept = owned.move();
  return { files, [Symbol.dispose]: () => kept.dispose() };
}
