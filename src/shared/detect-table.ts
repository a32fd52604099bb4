/**
 * Detects tables by the first bytes of a file: whether it is one, and which delimiter it uses. This module reads no
 * rows, so that callers without tables load nothing for them.
 */

/** The byte order mark at the beginning of a text. */
export const BYTE_ORDER_MARK = /^\uFEFF/;

/** How a line ends: as everywhere, or as in files for the Macintosh. */
const LINE_END = /\r?\n|\r/;

const DELIMITERS = [',', ';', '\t', '|'] as const;

/** The delimiter of the first line: the most frequent of the usual ones, outside of quotes. */
export function delimiterOf(beginning: Buffer): string {
  const [header = ''] = beginning.toString().split(LINE_END);
  const bare = header.replaceAll(/"[^"]*"/g, '');
  const counts = DELIMITERS.map((each) => [each, bare.split(each).length] as const);
  return counts.reduce((most, each) => (each[1] > most[1] ? each : most))[0];
}

/** The `sep=;` line at the beginning of a file for Excel. */
export const separatorLine = (beginning: Buffer): string | undefined =>
  /^\uFEFF?"?sep=([,;|\t])"?\r?\n/i.exec(beginning.toString('utf8', 0, 20))?.[1];

const NAME = /^"?[A-Za-z_][\w #./()$%&'-]{0,63}"?$/;

/** Whether a text that should be JSON looks like the header of a table. */
export function looksLikeTable(beginning: Buffer): boolean {
  const text = beginning.toString().replace(BYTE_ORDER_MARK, '');
  if (separatorLine(beginning) !== undefined) return true;
  const [header = ''] = text.split(LINE_END);
  const cells = header.split(delimiterOf(beginning)).map((cell) => cell.trim());
  // Prose contains commas, too, but repeats words.
  return cells.length > 1 && new Set(cells).size === cells.length && cells.every((cell) => NAME.test(cell));
}
