import { appendFileSync, rmSync } from 'node:fs';

/**
 * Where records go that could not be stored. Each line is the record as it came, with an annotation that says why, so
 * that the file can be put right and imported again.
 */
export interface RejectedFile {
  readonly path: string;
  add(file: string, line: number, reason: string, text: string): void;
}

export function rejectedFile(path: string): RejectedFile {
  rmSync(path, { force: true }); // what an earlier run rejected
  return {
    path,
    add(file, line, reason, text) {
      const why = { file, line, reason };
      appendFileSync(path, `${JSON.stringify(annotated(text, why))}\n`);
    },
  };
}

function annotated(text: string, why: object): object {
  try {
    const record: unknown = JSON.parse(text);
    if (typeof record === 'object' && record !== null && !Array.isArray(record)) {
      return { '@plat.rejected': why, ...record };
    }
  } catch {
    // It goes into the file as the text that it is.
  }
  return { '@plat.rejected': why, text };
}
