import { appendFileSync, closeSync, fstatSync, ftruncateSync, rmSync } from 'node:fs';
import { openPrivateFile } from '../../store/files/private-file.ts';

/**
 * Where records go that could not be stored. Each line is the record as it came, with annotations that say of what
 * resource it is, and why it is here, so that the file can be put right and imported again. Where it cannot be written,
 * that is told and hurts nothing else.
 */
export interface RejectedFile extends Disposable {
  readonly path: string;
  /** Why what an earlier run rejected is still there. */
  readonly stale: string | undefined;
  /** @returns why the record does not stand in the file; what does not fit once is the end of it */
  add(resource: string, file: string, line: number, reason: string, text: string): string | undefined;
}

/** @param append writes to an open file, all or not */
export function rejectedFile(
  path: string,
  append: (descriptor: number, text: string) => void = appendFileSync,
): RejectedFile {
  let descriptor: number | undefined;
  let fault: string | undefined;
  const attempt = (action: () => void): void => {
    try {
      action();
    } catch (error) {
      fault = error instanceof Error ? error.message : String(error);
    }
  };
  attempt(() => rmSync(path, { force: true })); // what an earlier run rejected
  return {
    path,
    stale: fault,
    add(resource, file, line, reason, text) {
      if (fault !== undefined) return fault;
      attempt(() => {
        descriptor ??= openPrivateFile(path);
        const { size } = fstatSync(descriptor);
        try {
          append(descriptor, `${annotated(text, resource, JSON.stringify({ file, line, reason }))}\n`);
        } catch (error) {
          ftruncateSync(descriptor, size); // a full disk may have taken the beginning of it
          throw error;
        }
      });
      return fault;
    },
    [Symbol.dispose]() {
      if (descriptor !== undefined) closeSync(descriptor);
    },
  };
}

/** What an earlier import put before the members of a record. */
const TEXT = /"[^"\\]*(?:\\.[^"\\]*)*"/.source;
const EARLIER = new RegExp(
  `^\\{(?:"@plat\\.resource":${TEXT},)?"@plat\\.rejected":\\{"file":${TEXT},"line":\\d+,"reason":${TEXT}\\},?`,
);

/** The record with every digit that it came with, which reading and writing it would not keep. */
function annotated(text: string, resource: string, why: string): string {
  const annotations = `"@plat.resource":${JSON.stringify(resource)},"@plat.rejected":${why}`;
  if (!isObject(text)) return `{${annotations},"text":${JSON.stringify(text)}}`;
  const members = text
    .trim()
    .replace(/[\r\n]+/g, ' ')
    .replace(EARLIER, '{')
    .slice(1)
    .trimStart();
  return `{${annotations}${members === '}' ? '' : ','}${members}`;
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
