/**
 * Events over a span of time: lanes with marks, drawn as SVG. A table contains the same for people who cannot see it. This module
 * must not know what the marks stand for.
 */
import { useId, useState } from 'preact/hooks';
import { Table, type TableColumn } from './table.tsx';
import './time-line.css';

export interface Mark {
  /** Milliseconds since 1970. */
  readonly from: number;
  /** For something that continues: the present. */
  readonly to: number;
  readonly look: 'plain' | 'second' | 'open' | 'bad';
  /** A description in one line. */
  readonly text: string;
  /** Its cells in the table, in the order of the columns. */
  readonly cells: readonly string[];
}

export interface Lane {
  readonly name: string;
  readonly marks: readonly Mark[];
}

interface TimeLineProps {
  readonly label: string;
  /** The bounds of the span. */
  readonly from: number;
  readonly to: number;
  readonly lanes: readonly Lane[];
  /** The titles of the cells of a mark. */
  readonly columns: readonly string[];
}

const HOUR = 3_600_000;
const MINUTE = 60_000;
const CLOCK = new Intl.DateTimeFormat('en-US', { hour: 'numeric', minute: '2-digit' });
const MOMENT = new Intl.DateTimeFormat('en-US', {
  ...{ month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit', second: '2-digit' },
});

/** Milliseconds between two ticks, so that there are at most six, which fit on a phone. */
function stepOf(span: number): number {
  const steps = [MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 6 * HOUR];
  return steps.find((step) => span / step <= 6) ?? 6 * HOUR;
}

function ticksOf(from: number, to: number): readonly number[] {
  const step = stepOf(to - from);
  // Whole hours in the reader's time zone.
  const shift = new Date(to).getTimezoneOffset() * MINUTE;
  const first = Math.ceil((from - shift) / step) * step + shift;
  return Array.from({ length: Math.floor((to - first) / step) + 1 }, (_, at) => first + at * step);
}

const HEIGHT = 22;
/** The smallest share of the span that a mark occupies, since marks without width would be invisible. */
const LEAST = 0.002;

export function TimeLine({ label, from, to, lanes, columns }: TimeLineProps) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const place = (at: number): string =>
    `${((100 * (Math.min(Math.max(at, from), to) - from)) / (to - from)).toFixed(3)}%`;
  const width = ({ from: begin, to: end }: Mark): string => {
    const share = (Math.min(end, to) - Math.max(begin, from)) / (to - from);
    return `${(100 * Math.max(LEAST, share)).toFixed(3)}%`;
  };
  const ticks = ticksOf(from, to);
  const shown = lanes.map((lane) => ({
    ...lane,
    marks: lane.marks.filter((mark) => mark.to >= from && mark.from <= to),
  }));
  const rows = shown
    .flatMap(({ name, marks }) => marks.map((mark) => ({ name, mark })))
    .toSorted((one, other) => other.mark.from - one.mark.from);
  return (
    <figure class="time-line" aria-labelledby={id}>
      <figcaption id={id}>{label}</figcaption>
      <div class="lanes">
        {shown.map(({ name, marks }) => (
          <div class="lane" key={name}>
            <span class="lane-name">{name}</span>
            <svg width="100%" height={HEIGHT} focusable="false" aria-hidden="true">
              <line class="base" x1="0" x2="100%" y1={HEIGHT / 2} y2={HEIGHT / 2} />
              {ticks.map((tick) => (
                <line class="tick" key={tick} x1={place(tick)} x2={place(tick)} y1="0" y2={HEIGHT} />
              ))}
              {marks.map((mark) => (
                <rect
                  key={`${mark.from} ${mark.text}`}
                  class={`mark ${mark.look}`}
                  x={place(mark.from)}
                  width={width(mark)}
                  y="5"
                  height={HEIGHT - 10}
                  rx="1"
                >
                  <title>{mark.text}</title>
                </rect>
              ))}
            </svg>
          </div>
        ))}
        <div class="lane">
          <span class="lane-name" />
          <svg width="100%" height="18" focusable="false" aria-hidden="true">
            {ticks.map((tick) => (
              <text key={tick} class="tick-name" x={place(tick)} y="13">
                {CLOCK.format(tick)}
              </text>
            ))}
          </svg>
        </div>
      </div>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          {rows.length === 0 ? 'Nothing in this span' : `The same as a table: ${rows.length} entries`}
        </summary>
        {isOpen && rows.length > 0 ? (
          <Table
            label={`${label}, as a table`}
            rows={rows}
            keyOf={({ name, mark }) => `${name} ${mark.from} ${mark.text}`}
            named="What"
            columns={[
              { title: 'Began', class: 'when', cell: ({ mark }) => MOMENT.format(mark.from) },
              { title: 'What', cell: ({ name }) => name },
              ...columns.map(
                (title, at): TableColumn<{ readonly mark: Mark; readonly name: string }> => ({
                  ...{ title, cell: ({ mark }) => mark.cells[at] },
                }),
              ),
            ]}
          />
        ) : null}
      </details>
    </figure>
  );
}
