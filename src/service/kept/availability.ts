/**
 * Whether a cache file can be used: after a fault, such as a full disk, it is tried again from time to time. The fault is
 * logged once, until the file has worked again. This module knows no file.
 */

/** Milliseconds after which a file that failed is tried again. */
const AGAIN = 10 * 60 * 1000;

export interface AvailabilityOptions {
  /** Logs a fault, of which clients notice nothing. */
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

  /** The file works. */
  recordSuccess(): void {
    this.#isLogged = false;
  }

  /** The file failed, and is tried again later. */
  recordFailure(message: string, error: unknown): void {
    this.#offUntil = this.#options.now() + AGAIN;
    if (!this.#isLogged) this.#options.warn(message, error);
    this.#isLogged = true;
  }

  /** The file is no longer needed. */
  disable(): void {
    this.#offUntil = Number.POSITIVE_INFINITY;
  }
}
