/**
 * Waits for work, but no longer than a time limit. Work that continues afterwards is not awaited, and its failure is ignored.
 * @param milliseconds may be infinite
 * @returns whether the work has ended
 */
export async function settlesWithin(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  const ended = work.then(
    () => true,
    () => true,
  );
  if (milliseconds === Number.POSITIVE_INFINITY) return ended;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), milliseconds);
  const isDone = await Promise.race([ended, promise]);
  clearTimeout(timer);
  return isDone;
}
