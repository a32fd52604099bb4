/**
 * The version of the tables of a store, which is the same for every engine. Opening an older store migrates it; a newer store
 * records which versions of plat may still use it.
 */
export const LAYOUT_VERSION = 4;

/** A newer version of plat has changed the tables in a way that this version does not know. */
export class LayoutTooNew extends Error {
  readonly found: number;

  constructor(found: number) {
    super(`The tables have layout ${found}`);
    this.found = found;
  }
}
