/**
 * A table of many records, of which only the visible rows are in the document. It exposes the total number of rows and the index of
 * each, and requests the rows that come into view. This module must not know what a record is.
 */
import {
  defaultRangeExtractor,
  elementScroll,
  observeElementOffset,
  observeElementRect,
  type Range,
  Virtualizer,
} from '@tanstack/virtual-core';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import './data-table.css';

export interface Column {
  readonly name: string;
  readonly title: string;
  /** In pixels. */
  readonly width: number;
  readonly isNumber: boolean;
  /** The direction in which the records are sorted by this column; absent: they are not. */
  readonly sort?: 'ascending' | 'descending';
}

interface DataTableProps {
  /** The content of the table, for people. */
  readonly label: string;
  readonly columns: readonly Column[];
  readonly count: number;
  /** The cells of a row; undefined: not loaded yet. */
  readonly cellsAt: (index: number) => readonly ComponentChildren[] | undefined;
  /** Called with the visible rows, from the first to the one after the last. */
  readonly onView: (from: number, to: number) => void;
  /** @param adds whether the column is added to the order instead of replacing it */
  readonly onSort?: (column: string, adds: boolean) => void;
}

const ROW = 36;
const AHEAD = 8;
/**
 * Browsers do not render boxes higher than about 17 million pixels. Beyond this height, a pixel of the scroll bar stands for
 * several pixels of rows.
 */
const HIGHEST = 12_000_000;

export function DataTable({ label, columns, count, cellsAt, onView, onSort }: DataTableProps) {
  const box = useRef<HTMLDivElement>(null);
  const [, setTurn] = useState(0);
  const focused = useRef<number | undefined>(undefined);
  const total = count * ROW;
  const shown = Math.min(total, HIGHEST);
  /** Pixels of rows per pixel of the scroll bar. */
  const factor = useRef(1);
  const view = box.current?.clientHeight ?? 600;
  factor.current = total > shown ? (total - view) / (shown - view) : 1;
  const options = {
    count,
    getScrollElement: () => box.current,
    estimateSize: () => ROW,
    overscan: AHEAD,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset: (
      instance: Virtualizer<HTMLDivElement, Element>,
      notify: (offset: number, isScrolling: boolean) => void,
    ) =>
      observeElementOffset(instance, (offset, isScrolling) => notify(offset * factor.current, isScrolling)),
    // Keeps the row with the focus in the document, so that the focus is not lost when the row is scrolled out of view.
    rangeExtractor: (range: Range) => {
      const rows = defaultRangeExtractor(range);
      const kept = focused.current;
      if (kept === undefined || kept >= count || rows.includes(kept)) return rows;
      return [...rows, kept].sort((one, other) => one - other);
    },
    onChange: () => setTurn((turn) => turn + 1),
  };
  const [rows] = useState(() => new Virtualizer<HTMLDivElement, Element>(options));
  rows.setOptions(options);
  useLayoutEffect(() => rows._didMount(), []);
  useLayoutEffect(() => rows._willUpdate());
  const { startIndex = 0, endIndex = 0 } = rows.range ?? {};
  useViewed(startIndex, Math.min(count, endIndex + 1), onView);
  const items = rows.getVirtualItems();
  const offset = box.current?.scrollTop ?? 0;
  const moved = offset - offset * factor.current;
  const width = columns.reduce((sum, column) => sum + column.width, 0);
  const body: ComponentChildren[] = [];
  let bottom = 0;
  for (const { index, start, end } of items) {
    const top = Math.max(bottom, start + moved);
    if (top > bottom) body.push(<Gap key={`before ${index}`} height={top - bottom} span={columns.length} />);
    body.push(<BodyRow key={index} index={index} cells={cellsAt(index)} columns={columns} />);
    bottom = top + (end - start);
  }
  if (shown > bottom) body.push(<Gap key="after" height={shown - bottom} span={columns.length} />);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reached by the keyboard
    <section class="data-table" ref={box} tabIndex={0} aria-label={label}>
      <table aria-rowcount={count + 1} aria-label={label} style={{ width: `${width}px` }}>
        <colgroup>
          {columns.map(({ name, width: wide }) => (
            <col key={name} style={{ width: `${wide}px` }} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column) => (
              <Head key={column.name} column={column} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody
          onFocusIn={(event: FocusEvent) => {
            focused.current = rowOf(event.target);
          }}
          onFocusOut={() => {
            focused.current = undefined;
          }}
        >
          {body}
        </tbody>
      </table>
    </section>
  );
}

/** The shortest time between two reports of the visible rows, in milliseconds. */
const PAUSE = 60;
/** A person who scrolls by more rows than this in that time does not read them. */
const FLIES = 60;

/** Reports the visible rows: when scrolling stops, and while it is slow enough to read. Rows that fly by are not reported. */
function useViewed(from: number, to: number, onView: DataTableProps['onView']): void {
  const state = useRef<{ timer?: ReturnType<typeof setTimeout> | undefined }>({});
  const latest = useRef({ from, to, onView });
  latest.current = { from, to, onView };
  const look = (before: number) => {
    const { from: now, to: end, onView: report } = latest.current;
    if (Math.abs(now - before) <= FLIES) report(now, end);
    // Checks once more: the table has stopped, or it is checked again.
    state.current.timer = now === before ? undefined : setTimeout(look, PAUSE, now);
  };
  useEffect(() => {
    state.current.timer ??= setTimeout(look, PAUSE, from);
  }, [from, to]);
  useEffect(() => onView(latest.current.from, latest.current.to), [onView]);
  useEffect(() => () => clearTimeout(state.current.timer), []);
}

/** The index of the row that contains an element. */
function rowOf(target: EventTarget | null): number | undefined {
  const row = target instanceof Element ? target.closest('tr') : null;
  const index = Number(row?.getAttribute('aria-rowindex') ?? 0);
  return index > 1 ? index - 2 : undefined;
}

const Gap = ({ height, span }: { readonly height: number; readonly span: number }) => (
  // biome-ignore lint/a11y/noAriaHiddenOnFocusable: nothing in it takes the focus
  <tr aria-hidden="true" class="gap">
    <td colSpan={span} style={{ height: `${height}px` }} />
  </tr>
);

const ARROWS = { ascending: ' ▲', descending: ' ▼' } as const;

function Head({ column, onSort }: { readonly column: Column; readonly onSort: DataTableProps['onSort'] }) {
  const { name, title, isNumber, sort } = column;
  return (
    <th scope="col" class={isNumber ? 'number' : ''} aria-sort={sort}>
      {onSort === undefined ? (
        title
      ) : (
        <button type="button" class="sort" title={name} onClick={(event) => onSort(name, event.shiftKey)}>
          {title}
          <span aria-hidden="true">{sort === undefined ? '' : ARROWS[sort]}</span>
        </button>
      )}
    </th>
  );
}

interface BodyRowProps {
  readonly index: number;
  readonly cells: readonly ComponentChildren[] | undefined;
  readonly columns: readonly Column[];
}

const BodyRow = ({ index, cells, columns }: BodyRowProps) => (
  <tr aria-rowindex={index + 2} class={index % 2 === 0 ? '' : 'odd'}>
    {cells === undefined ? (
      <td colSpan={columns.length} class="coming">
        …
      </td>
    ) : (
      cells.map((cell, at) => (
        <td key={columns[at]?.name} class={columns[at]?.isNumber ? 'number' : ''}>
          {cell}
        </td>
      ))
    )}
  </tr>
);
