/**
 * Measures deadlines by a monotonic clock, from the moment when this process first saw them. Processes therefore wait for the right
 * time even if their clocks differ or are set. This module does not know what is waited for.
 */
export class Deadlines {
  readonly #elapsed: () => number;
  readonly #ends = new Map<string, { readonly value: string; readonly end: number }>();

  /** @param elapsed milliseconds since any moment, by a monotonic clock */
  constructor(elapsed: () => number) {
    this.#elapsed = elapsed;
  }

  /**
   * @param value identifies the deadline; another value starts a new one
   * @param milliseconds the length of the wait, which is used when the value is first seen
   * @returns the remaining milliseconds; 0 or less: the deadline has passed
   */
  remaining(name: string, value: string, milliseconds: number): number {
    const now = this.#elapsed();
    const known = this.#ends.get(name);
    if (known?.value === value) return known.end - now;
    this.#ends.set(name, { value, end: now + milliseconds });
    return milliseconds;
  }

  /** Forgets all names except these. */
  retain(names: ReadonlySet<string>): void {
    for (const name of this.#ends.keys()) if (!names.has(name)) this.#ends.delete(name);
  }
}
