/** Which part of a long list is shown, and the way to its neighbors. The place stands in the address of the page. */
import { query } from '../app/route.ts';
import { whole } from './figures.ts';

/** The number of entries that are omitted, as the address says it under a name. */
export function placeIn(name: string): number {
  const place = Number(query.value.get(name) ?? 0);
  return Number.isSafeInteger(place) && place > 0 ? place : 0;
}

interface PagerProps {
  /** What is paged, for people. */
  readonly label: string;
  readonly from: number;
  readonly size: number;
  readonly total: number;
  /** @param to undefined: the beginning, which no address needs to say */
  readonly go: (to: string | undefined) => void;
}

export function Pager({ label, from, size, total, go }: PagerProps) {
  const until = Math.min(from + size, total);
  if (from === 0 && until >= total) return null;
  const to = (place: number) => go(place <= 0 ? undefined : String(place));
  return (
    <nav class="row" aria-label={label}>
      <button type="button" class="quiet" disabled={from === 0} onClick={() => to(from - size)}>
        Previous
      </button>
      <span>
        {whole(Math.min(from + 1, total))} to {whole(until)} of {whole(total)}
      </span>
      <button type="button" class="quiet" disabled={until >= total} onClick={() => to(from + size)}>
        Next
      </button>
    </nav>
  );
}
