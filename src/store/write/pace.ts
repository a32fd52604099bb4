/** How much faster a writer is tried again after each transaction that went well. */
const GROWTH = 1.25;
const paces = new WeakMap<object, number>();

/**
 * Records and children that a writer stores in one transaction just now: a slow or busy machine is not asked again and
 * again for what it could not do in time.
 */
export const paceOf = (writer: object, most: number): number => Math.min(most, paces.get(writer) ?? most);

/** A transaction of this weight took too long. */
export function slowDown(writer: object, weight: number): void {
  paces.set(writer, Math.max(1, Math.floor(weight / 2)));
}

export function speedUp(writer: object): void {
  const pace = paces.get(writer);
  if (pace !== undefined) paces.set(writer, Math.ceil(pace * GROWTH));
}
