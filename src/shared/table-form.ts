/**
 * What the first bytes of a file tell of a table: whether it is one, and what stands between its cells. It reads no rows,
 * so that whoever has none loads nothing for them.
 */

/** The byte order mark with which a text may begin. */
export const MARK = /^\uFEFF/;

const DELIMITERS = [',', ';', '\t', '|'] as const;

/** What stands between the cells of the first line: whichever of the usual ones is there most often, outside of quotes. */
export function delimiterOf(beginning: Buffer): string {
  const [header = ''] = beginning.toString().split('\n');
  const bare = header.replaceAll(/"[^"]*"/g, '');
  const counts = DELIMITERS.map((each) => [each, bare.split(each).length] as const);
  return counts.reduce((most, each) => (each[1] > most[1] ? each : most))[0];
}

/** The `sep=;` with which a file for Excel may begin. */
export const separatorLine = (beginning: Buffer): string | undefined =>
  /^\uFEFF?"?sep=([,;|\t])"?\r?\n/i.exec(beginning.toString('utf8', 0, 20))?.[1];

const NAME = /^"?[A-Za-z_][\w #./()$%&'-]{0,63}"?$/;

/** Whether a text that is to be JSON looks like the header row of a table. */
export function looksLikeTable(beginning: Buffer): boolean {
  const text = beginning.toString().replace(MARK, '');
  if (separatorLine(beginning) !== undefined) return true;
  const [header = ''] = text.split(/\r?\n/);
  const cells = header.split(delimiterOf(beginning)).map((cell) => cell.trim());
  // Prose has commas, too, and says things twice.
  return cells.length > 1 && new Set(cells).size === cells.length && cells.every((cell) => NAME.test(cell));
}
