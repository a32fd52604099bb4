/** An invariant that does not hold. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

/** Reports a violation; an exception alone might look like an error of the source to the consumer. */
export type Accuse = (invariant: string, facts: string) => void;
