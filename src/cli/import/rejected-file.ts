import { appendFileSync, rmSync } from 'node:fs';
import { PRIVATE_MODE } from '../../store/private-file.ts';

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
      appendFileSync(path, `${annotated(text, JSON.stringify({ file, line, reason }))}\n`, {
        mode: PRIVATE_MODE,
      });
    },
  };
}

/** What an earlier import put before the members of a record. */
const TEXT = /"[^"\\]*(?:\\.[^"\\]*)*"/.source;
const EARLIER = new RegExp(`^\\{"@plat\\.rejected":\\{"file":${TEXT},"line":\\d+,"reason":${TEXT}\\},?`);

/** The record with every digit that it came with, which reading and writing it would not keep. */
function annotated(text: string, why: string): string {
  if (!isObject(text)) return `{"@plat.rejected":${why},"text":${JSON.stringify(text)}}`;
  const members = text
    .trim()
    .replace(/[\r\n]+/g, ' ')
    .replace(EARLIER, '{')
    .slice(1)
    .trimStart();
  return `{"@plat.rejected":${why}${members === '}' ? '' : ','}${members}`;
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
