import type { Random } from '../random.ts';

/** A set of keys of which one is drawn, in the same order of additions the same one. */
export class Pool {
  readonly #keys: string[] = [];
  readonly #places = new Map<string, number>();

  get size(): number {
    return this.#keys.length;
  }

  has(key: string): boolean {
    return this.#places.has(key);
  }

  add(key: string): void {
    if (this.#places.has(key)) return;
    this.#places.set(key, this.#keys.length);
    this.#keys.push(key);
  }

  delete(key: string): void {
    const place = this.#places.get(key);
    const last = this.#keys.pop();
    if (place === undefined || last === undefined) {
      if (last !== undefined) this.#keys.push(last);
      return;
    }
    this.#places.delete(key);
    if (last === key) return;
    this.#keys[place] = last;
    this.#places.set(last, place);
  }

  /** One of the keys; undefined if there is none. */
  draw(random: Random): string | undefined {
    return this.#keys[Math.floor(random.unit() * this.#keys.length)];
  }
}
