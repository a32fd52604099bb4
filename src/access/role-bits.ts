/**
 * Assigns a bit of a row's visibility to each role. The bits are stored in rows and in the sequence of changes, whose entries
 * outlive a change of the configuration. A role therefore keeps its bit whatever happens to other roles, and the bit of a former
 * role is reused only when no unused one is left. This module knows nothing about stores.
 */

/** The number of bits in a row. Each role has one, and so has each set of classes that can be withheld. */
export const MOST_BITS = 31;

/** The names of roles in the order of their bits, including former roles whose bit has not been reassigned. */
export type RoleBits = readonly string[];

/**
 * The bits after the configured roles have changed. A role that is configured again gets its earlier bit, unless that has been
 * reassigned.
 *
 * @param names the roles that are configured from now on
 */
export function assignBits(before: RoleBits, names: readonly string[]): RoleBits {
  const after = [...before];
  for (const name of names) {
    if (after.includes(name)) continue;
    const former = after.length < MOST_BITS ? -1 : after.findIndex((each) => !names.includes(each));
    // A definition with more roles than bits is refused when it is resolved.
    if (former < 0) after.push(name);
    else after[former] = name;
  }
  return after;
}

/** The bits that belong to another role than before, as one number. */
export const reusedBits = (before: RoleBits, after: RoleBits): number =>
  before.reduce((bits, name, index) => (after[index] === name ? bits : bits + 2 ** index), 0);
