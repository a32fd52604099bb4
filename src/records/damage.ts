/** What a store says of itself cannot be read: whoever opened the store names it. */
export class Damage extends Error {
  override readonly name = 'Damage';
}

/** A record that is known to be damaged would be read. The rest of the store is as fit as before. */
export class DamagedRecord extends Error {
  override readonly name = 'DamagedRecord';
  /** Resource and key. */
  readonly record: string;

  constructor(record: string) {
    super(`${record} is not as it was written`);
    this.record = record;
  }
}

/** Why a constraint of the engine was broken: what plat writes keeps them all, unless something else stands in its rows. */
export function inTheWay(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return `what stands in its tables is in the way of what is written (${message})`;
}
