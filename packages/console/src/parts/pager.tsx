/** The current part of a long list, and links to its neighbors. The position is in the address of the page. */
import { query } from '../app/route.ts';
import { whole } from './figures.ts';

/** The number of entries to skip, from the parameter of the address. */
export function placeIn(name: string): number {
  const place = Number(query.value.get(name) ?? 0);
  return Number.isSafeInteger(place) && place > 0 ? place : 0;
}

interface PagerProps {
  /** The name of the list, for people. */
  readonly label: string;
  readonly from: number;
  readonly size: number;
  readonly total: number;
  /** @param to undefined: the beginning, which is omitted from the address */
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
