/**
 * The version of the tables of a store, the same for every engine: opening an older store migrates it, and a newer one says
 * which plat may still use it.
 */
export const LAYOUT_VERSION = 4;

/** A newer plat has changed the tables in a way that this one does not know. */
export class LayoutTooNew extends Error {
  readonly found: number;

  constructor(found: number) {
    super(`The tables have layout ${found}`);
    this.found = found;
  }
}
