/** The version of the tables that this plat writes; opening an older store brings it there (migrations/). */
export const LAYOUT_VERSION = 4;

/** The layout since which the sequence of changes has an entry of every record. */
export const LISTS_RECORDS = 4;

/** What a store says of its tables. */
export interface StoredLayout {
  readonly layout: number;
  /** The layouts of the oldest plat that may still read and write these tables. */
  readonly oldestReader: number;
  readonly oldestWriter: number;
}

/** A newer plat has changed the tables in a way that this one does not know. */
export class LayoutTooNew extends Error {
  readonly found: number;

  constructor(found: number) {
    super(`The tables have layout ${found}`);
    this.found = found;
  }
}

/**
 * Whether tables may be used by a plat that knows a layout: also those of a newer layout, as long as that says so.
 * @param oldest the layout of the oldest plat that may; absent in stores of layout 1
 * @throws LayoutTooNew
 */
export function mustKnow(layout: unknown, oldest: unknown, known: number = LAYOUT_VERSION): void {
  if (Number(oldest ?? 1) > known) throw new LayoutTooNew(Number(layout));
}
