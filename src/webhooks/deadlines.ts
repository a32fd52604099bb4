/**
 * How long is left of a time that began when something was first seen, by a clock that nobody sets. Processes whose clocks
 * differ, and one whose clock was set meanwhile, so wait as long as they should. It knows nothing of what is waited for.
 */
export class Deadlines {
  readonly #elapsed: () => number;
  readonly #ends = new Map<string, { readonly value: string; readonly end: number }>();

  /** @param elapsed milliseconds since any moment, by a monotonic clock */
  constructor(elapsed: () => number) {
    this.#elapsed = elapsed;
  }

  /**
   * @param value another one begins another time
   * @param milliseconds how long the time is, which counts when the value is first seen
   * @returns the milliseconds that are left; 0 or less: none
   */
  left(name: string, value: string, milliseconds: number): number {
    const now = this.#elapsed();
    const known = this.#ends.get(name);
    if (known?.value === value) return known.end - now;
    this.#ends.set(name, { value, end: now + milliseconds });
    return milliseconds;
  }

  /** Forgets what has none of these names. */
  retain(names: ReadonlySet<string>): void {
    for (const name of this.#ends.keys()) if (!names.has(name)) this.#ends.delete(name);
  }
}
