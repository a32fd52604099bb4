/** The published facts of Data Dictionary 2.0, for comparison; they lie next to the project, not in it. */
import { existsSync, readFileSync } from 'node:fs';

const DATA = new URL('../../../shared/data/', import.meta.url);
const FIELDS = new URL('dictionary-2.0-fields.tsv', DATA);
const LOOKUPS = new URL('dictionary-2.0-lookups.tsv', DATA);

/** The `skip` option of a test: false if the facts are there. */
export const skip: string | false =
  existsSync(FIELDS) && existsSync(LOOKUPS)
    ? false
    : 'the tables of Data Dictionary 2.0 are not beside the project (../shared/data)';

export interface ReferenceField {
  readonly resource: string;
  readonly field: string;
  readonly type: string;
  readonly collection: boolean;
  readonly maxLength: string;
  readonly precision: string;
  readonly scale: string;
  readonly lookup: string;
  readonly lookupStatus: string;
  readonly target: string;
  readonly payloads: readonly string[];
}

export interface ReferenceValue {
  readonly lookup: string;
  readonly value: string;
  readonly legacy: string;
}

function rows(file: URL): string[][] {
  const [, ...lines] = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.map((line) => line.split('\t'));
}

export function referenceFields(): ReferenceField[] {
  return rows(FIELDS).map((cells) => {
    const [resource = '', field = '', type = '', collection = '', maxLength = '', precision = '', ...rest] =
      cells;
    const [scale = '', lookup = '', lookupStatus = '', target = '', payloads = ''] = rest;
    return {
      resource,
      field,
      type,
      collection: collection === '1',
      maxLength,
      precision,
      scale,
      lookup,
      lookupStatus,
      target,
      payloads: payloads.split(','),
    };
  });
}

export function referenceValues(): ReferenceValue[] {
  return rows(LOOKUPS).map(([lookup = '', value = '', legacy = '']) => ({ lookup, value, legacy }));
}
