/** Reasons of one record that are told, and characters of each: a record may be wrong in 100,000 places. */
const MOST = 20;
const LONGEST = 300;

/** Why a record cannot be stored: the first reasons in full, and how many more there are. */
export class Reasons {
  readonly #told: string[] = [];
  #more = 0;

  get count(): number {
    return this.#told.length + this.#more;
  }

  /** @param reason made only where it is told: some look for what was meant */
  add(reason: string | (() => string)): void {
    if (this.#told.length >= MOST) {
      this.#more++;
      return;
    }
    const text = typeof reason === 'string' ? reason : reason();
    this.#told.push(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
  }

  addAll(reasons: readonly string[]): void {
    for (const reason of reasons) this.add(reason);
  }

  list(): readonly string[] {
    return this.#more === 0 ? this.#told : [...this.#told, `and ${this.#more} more`];
  }

  has(beginning: string): boolean {
    return this.#told.some((reason) => reason.startsWith(beginning));
  }
}
