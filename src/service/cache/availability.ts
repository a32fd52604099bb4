/**
 * Whether a cache file can be used. After a fault, such as a full disk, the file is tried again from time to time. A fault is
 * logged once, until the file has worked again. This module does not access the file.
 */

/** Milliseconds after which a file that failed is tried again. */
const AGAIN = 10 * 60 * 1000;

export interface AvailabilityOptions {
  /** Logs a fault, which clients do not notice. */
  readonly warn: (message: string, error: unknown) => void;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
}

export class Availability {
  readonly #options: AvailabilityOptions;
  #offUntil = Number.NEGATIVE_INFINITY;
  #isLogged = false;

  constructor(options: AvailabilityOptions) {
    this.#options = options;
  }

  get isOff(): boolean {
    return this.#options.now() < this.#offUntil;
  }

  /** Records that the file works. */
  recordSuccess(): void {
    this.#isLogged = false;
  }

  /** Records that the file failed. It is tried again later. */
  recordFailure(message: string, error: unknown): void {
    this.#offUntil = this.#options.now() + AGAIN;
    if (!this.#isLogged) this.#options.warn(message, error);
    this.#isLogged = true;
  }

  /** Ends the use of the file, because it is no longer needed. */
  disable(): void {
    this.#offUntil = Number.POSITIVE_INFINITY;
  }
}
