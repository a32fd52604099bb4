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
