/**
 * How many records a writer stores in one transaction. A commit writes most pages of most indexes, however few records it has: with
 * hundreds of thousands of listings, it takes as long as storing a thousand of them. So transactions get larger while twice as many
 * records would still be stored quickly, or commits take a large part of their time, and smaller while they are slow. This module
 * knows neither records nor engines.
 */

/**
 * The number of records in one transaction at first, on a machine that stores them quickly, and its limits. With more, an import takes
 * more memory than it saves time.
 */
const RECORDS = { least: 100, first: 1000, quick: 2000, most: 3000 };

/** A transaction that takes less than this, in milliseconds, may get larger; one that takes longer than the other gets smaller. */
const QUICK = 1200;
const SLOW = 1600;

/** The part of a transaction's time above which its commit is expensive. */
const EXPENSIVE = 0.25;

/** The factor by which transactions get larger and smaller. */
const STEP = 1.25;

/** How long a transaction took, in milliseconds. */
export interface TransactionTimes {
  readonly work: number;
  readonly commit: number;
}

/** The number of records in a transaction, and of records and children. */
export interface TransactionSize {
  readonly records: number;
  readonly weight: number;
}

/** The current limits of one writer's transactions. */
export class Pace {
  readonly #heaviest: number;
  #records = RECORDS.first;
  #weight: number;

  /** @param heaviest the number of records and children that one transaction stores well within its time limit */
  constructor(heaviest: number) {
    this.#heaviest = heaviest;
    this.#weight = heaviest;
  }

  get records(): number {
    return this.#records;
  }

  /** The current maximum number of records and children. */
  get weight(): number {
    return this.#weight;
  }

  /**
   * Whether a transaction may store more than it has stored so far.
   * @param milliseconds the time that this will have taken then
   */
  hasRoom({ records, weight }: TransactionSize, milliseconds: number): boolean {
    return records < this.#records && weight < this.#weight && milliseconds < QUICK;
  }

  /** Learns from a transaction that was committed. @param records the number of records in it */
  succeeded(records: number, { work, commit }: TransactionTimes): void {
    this.#weight = Math.min(this.#heaviest, Math.ceil(this.#weight * STEP));
    // A smaller one shows nothing about the limit.
    if (records < this.#records) return;
    const whole = work + commit;
    if (whole > SLOW) this.#records = Math.max(RECORDS.least, Math.floor(records / STEP));
    else if (whole < QUICK / 2 && records < RECORDS.quick)
      this.#records = Math.min(RECORDS.quick, 2 * records);
    else if (whole < QUICK && commit > EXPENSIVE * whole)
      this.#records = Math.min(RECORDS.most, Math.ceil(records * STEP));
  }

  /** Learns from a transaction that took too long, so that a slow machine does not repeatedly attempt too much. */
  tookTooLong(records: number, weight: number): void {
    this.#weight = Math.max(1, Math.floor(weight / 2));
    this.#records = Math.max(RECORDS.least, Math.min(this.#records, Math.floor(records / 2)));
  }
}
