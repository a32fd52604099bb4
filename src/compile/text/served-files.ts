import type { FieldValue } from '../../dictionary/index.ts';

/**
 * Stands in stored texts where the address of a file that this service serves is put in at request time. JSON
 * texts never hold the bare character.
 */
export const URL_MARK = '\u0001';

const ABSOLUTE = /^(?:[A-Za-z][A-Za-z0-9+.-]*:|\/\/)/;

/** The path of a file that this service serves itself; undefined for media that lie elsewhere. */
export function servedFile(url: FieldValue | undefined): string | undefined {
  return typeof url === 'string' && url !== '' && !ABSOLUTE.test(url) ? url : undefined;
}

/** The JSON text of a media address: the mark in place of one that is made at request time. */
export function urlText(url: FieldValue): string {
  return servedFile(url) === undefined ? JSON.stringify(url) : `"${URL_MARK}"`;
}
