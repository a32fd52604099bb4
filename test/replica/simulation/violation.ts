/** An invariant that did not hold. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

/** Where a violation is told; the consumer itself might take the error for one of its source's. */
export type Accuse = (invariant: string, facts: string) => void;
