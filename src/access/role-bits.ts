/**
 * Which bit of a row each role has. Bits are kept in the rows and in the sequence of changes, where those of a role stay for as
 * long as its entries do: a role keeps its bit whatever becomes of the others, and nobody gets that of a former role while there
 * is one that nobody had. It knows no store.
 */

/** Each role, and each withheld part of a resource, is one bit of a row. */
export const MOST_BITS = 31;

/** Names of roles in the order of their bits; former roles whose bit nobody else has are among them. */
export type RoleBits = readonly string[];

/**
 * The bits after a change of the configured roles. A role that comes back has the bit that it had.
 * @param names of the roles that are configured from now on
 */
export function assignBits(before: RoleBits, names: readonly string[]): RoleBits {
  const after = [...before];
  for (const name of names) {
    if (after.includes(name)) continue;
    const former = after.length < MOST_BITS ? -1 : after.findIndex((each) => !names.includes(each));
    // More roles than bits are refused when the roles are resolved.
    if (former < 0) after.push(name);
    else after[former] = name;
  }
  return after;
}

/** The bits, as one number, that belong to another role than before. */
export const reusedBits = (before: RoleBits, after: RoleBits): number =>
  before.reduce((bits, name, index) => (after[index] === name ? bits : bits + 2 ** index), 0);
