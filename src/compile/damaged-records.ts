/** Which records of a store are known to be damaged, and how a body says that it holds one. It knows no engines. */

/** By resource, the keys of damaged records; `all` where there are too many to know each. */
export type DamagedRecords = ReadonlyMap<string, readonly string[] | 'all'>;

/** Opens and ends what stands in the place of a damaged record: no JSON holds it. */
const MARK = '\u0006';

export const markOf = (resource: string): { readonly before: string; readonly behind: string } => ({
  before: `${MARK}${resource} `,
  behind: MARK,
});

/** Resource and key of the first damaged record in a body; undefined where there is none. */
export function markedIn(body: Buffer): string | undefined {
  const marked = body.indexOf(MARK);
  const end = body.indexOf(MARK, marked + 1);
  return marked < 0 || end < 0 ? undefined : body.toString('utf8', marked + 1, end);
}
