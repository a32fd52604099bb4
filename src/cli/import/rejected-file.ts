import { appendFileSync, closeSync, fstatSync, ftruncateSync, rmSync } from 'node:fs';
import { messageOf } from '../../shared/error-code.ts';
import { isObject, tryParseJson } from '../../shared/json.ts';
import { openPrivateFile } from '../../store/files/private-file.ts';
import { REJECTED_TEXT } from './record-json.ts';

/**
 * The file of records that could not be stored. Each line is the original record with annotations of its resource and the
 * reason, so that the file can be corrected and imported again. If it cannot be written, `add` returns the reason.
 */
export interface RejectedFile extends Disposable {
  readonly path: string;
  /** Why the file of an earlier run could not be removed. */
  readonly stale: string | undefined;
  /** @returns why the record is not in the file; after one failure, nothing more is written */
  add(resource: string, file: string, line: number, reason: string, text: string): string | undefined;
}

/** @param append writes to an open file */
export function openRejectedFile(
  path: string,
  append: (descriptor: number, text: string) => void = appendFileSync,
): RejectedFile {
  let descriptor: number | undefined;
  let fault: string | undefined;
  const attempt = (action: () => void): void => {
    try {
      action();
    } catch (error) {
      fault = messageOf(error);
    }
  };
  attempt(() => rmSync(path, { force: true })); // of an earlier run
  return {
    path,
    stale: fault,
    add(resource, file, line, reason, text) {
      if (fault !== undefined) return fault;
      attempt(() => {
        descriptor ??= openPrivateFile(path);
        const { size } = fstatSync(descriptor);
        try {
          append(descriptor, `${annotate(text, resource, JSON.stringify({ file, line, reason }))}\n`);
        } catch (error) {
          ftruncateSync(descriptor, size); // a full disk may have accepted a part of the line
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

/** Matches the annotations that an earlier import has added. */
const TEXT = /"[^"\\]*(?:\\.[^"\\]*)*"/.source;
const EARLIER = new RegExp(
  `^\\{(?:"@plat\\.resource":${TEXT},)?"@plat\\.rejected":\\{"file":${TEXT},"line":\\d+,"reason":${TEXT}\\},?`,
);

/** The annotated record. Its text is edited rather than parsed, since parsing would not preserve every digit. */
function annotate(text: string, resource: string, why: string): string {
  const annotations = `"@plat.resource":${JSON.stringify(resource)},"@plat.rejected":${why}`;
  if (!isObject(tryParseJson(text))) return `{${annotations},"${REJECTED_TEXT}":${JSON.stringify(text)}}`;
  const members = text
    .trim()
    .replace(/[\r\n]+/g, ' ')
    .replace(EARLIER, '{')
    .slice(1)
    .trimStart();
  return `{${annotations}${members === '}' ? '' : ','}${members}`;
}
