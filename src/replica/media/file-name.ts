import { hash } from 'node:crypto';

/** Bytes of a name without its ending: file systems take 255 in all, and a copy gets ` (2)` or the like. */
const LONGEST = 120;

/** Names that mean a device to some systems, whatever they end with. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/**
 * The name of a file for a key that a stranger chose: letters, digits, `_`, `-` and `.` of ASCII, so that no character
 * is special to a shell, a terminal or a file system, and a name is the same in every form of Unicode. A key that is
 * not such a name already has a hash in it, so that no two keys share a name.
 * @param ending letters and digits
 * @param taken whether another key has the name, in whatever case it is written
 */
export function fileNameOf(key: string, ending: string, taken: (name: string) => boolean): string {
  const plain = key
    .replace(/[^A-Za-z0-9_.-]/g, '_')
    .replace(/^[.-]/, '_')
    .slice(0, LONGEST);
  const name = `${plain}.${ending}`;
  if (plain !== '' && plain === key && !DEVICE.test(name) && !taken(name.toLowerCase())) return name;
  return `_${plain}-${hash('sha256', key).slice(0, 12)}.${ending}`;
}
