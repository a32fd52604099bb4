/** Letters of a file's ending; a host may send a type of any length. */
const LONGEST = 20;

/** What a file's name ends with, from its media type. */
export function endingOf(type: string | undefined): string {
  const [, subtype = ''] = /^[\w-]+\/([\w.-]+)/.exec(type ?? '') ?? [];
  const plain = subtype.toLowerCase().replace(/[^a-z0-9_-]/g, '_');
  return plain === '' ? 'bin' : plain.slice(0, LONGEST);
}
