/** Names of files, made of untrusted keys and media types. */
import { hash } from 'node:crypto';

/** Letters of an ending; a host may send a type of any length. */
const LONGEST_ENDING = 20;

/** What a file's name ends with, from its media type. */
export function endingOf(type: string | undefined): string {
  const [, subtype = ''] = /^[\w-]+\/([\w.-]+)/.exec(type ?? '') ?? [];
  const plain = subtype.toLowerCase().replace(/[^a-z0-9_-]/g, '_');
  return plain === '' ? 'bin' : plain.slice(0, LONGEST_ENDING);
}

/** Bytes of a name without its ending: file systems take 255 in all, and a copy gets ` (2)` or the like. */
const LONGEST_NAME = 120;

/** Names that mean a device to some systems, whatever their ending. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/**
 * The name of a file for a key: letters, digits, `_`, `-` and `.` of ASCII, so that no character is special to a shell, a
 * terminal or a file system, and a name is the same in every form of Unicode. The name for any other key contains a hash,
 * so that no two keys share a name.
 * @param ending letters and digits
 * @param taken whether another key has the name, in whatever case it is written
 */
export function fileNameOf(key: string, ending: string, taken: (name: string) => boolean): string {
  const plain = key
    .replace(/[^A-Za-z0-9_.-]/g, '_')
    .replace(/^[.-]/, '_')
    .slice(0, LONGEST_NAME);
  const name = `${plain}.${ending}`;
  if (plain !== '' && plain === key && !DEVICE.test(name) && !taken(name.toLowerCase())) return name;
  return `_${plain}-${hash('sha256', key).slice(0, 12)}.${ending}`;
}
