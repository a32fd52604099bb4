/** What a store says of itself cannot be read: whoever opened the store names it. */
export class Damage extends Error {
  override readonly name = 'Damage';
}
