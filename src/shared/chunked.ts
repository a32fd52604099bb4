/** Divides a list into chunks of a size; the last one may be shorter. */
export function* chunked<T>(list: readonly T[], size: number): Generator<readonly T[], void> {
  for (let at = 0; at < list.length; at += size) yield list.slice(at, at + size);
}
