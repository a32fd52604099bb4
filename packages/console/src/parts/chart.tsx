/**
 * A chart of values over time. The canvas is accompanied by a sentence that summarizes it and a table by hour, for people who
 * cannot see it. The chart does not know what its lines stand for.
 */
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import './chart.css';
import { clock, isolated, moment, short, span, whole } from './figures.ts';
import { Table, type TableColumn } from './table.tsx';

type Tone = 'accent' | 'warn' | 'bad' | 'soft';

export interface ChartLine {
  readonly name: string;
  readonly tone: Tone;
  /** A value for each time; null where there is none. */
  readonly values: readonly (number | null)[];
  /** How the values of an hour are combined: their sum, or the largest. */
  readonly ofHour: 'sum' | 'most';
  /** Whether it is a limit and not a measurement; it is then dashed, and omitted from the table. */
  readonly isBound?: boolean;
}

interface ChartProps {
  readonly title: string;
  /** The content of the chart in a sentence. */
  readonly summary: string;
  /** Milliseconds since 1970, in ascending order. */
  readonly times: readonly number[];
  readonly lines: readonly ChartLine[];
  /** The text of a value; absent: the values are counts, which the axis abbreviates. */
  readonly show?: ((value: number) => string) | undefined;
}

const HEIGHT = 200;
/** The largest number of points: a day in steps of five minutes. */
const POINTS = 288;
const HOUR = 3_600_000;
/** The shortest span of the chart in seconds, for a service that has just been started. */
const LEAST = 15 * 60;

/** Distances between grid lines: whole numbers only, since there are no fractions of requests. */
const STEPS = Array.from({ length: 12 }, (_, power) => [1, 2, 5].map((each) => each * 10 ** power)).flat();

interface Drawn {
  /** The number of values per point. */
  readonly step: number;
  readonly times: readonly number[];
  readonly values: readonly (readonly (number | null)[])[];
}

/** Reduces the number of points. Each point has the largest of its values, so that no peak is lost. */
function thinned(times: readonly number[], lines: readonly ChartLine[]): Drawn {
  const step = Math.max(1, Math.ceil(times.length / POINTS));
  const largest = (values: readonly (number | null)[]): number | null =>
    values.reduce((top, each) => (top === null || (each !== null && each > top) ? each : top), null);
  return {
    step,
    times: times.filter((_, at) => at % step === 0),
    values: lines.map(({ values }) =>
      Array.from({ length: Math.ceil(values.length / step) }, (_, at) =>
        largest(values.slice(at * step, (at + 1) * step)),
      ),
    ),
  };
}

export function Chart({ title, summary, times, lines, show }: ChartProps) {
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot | undefined>(undefined);
  const [under, setUnder] = useState<number>();
  const shape = lines.map(({ name, tone, isBound }) => `${name} ${tone} ${isBound}`).join();
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const canvas = draw(element, lines, show ?? short, setUnder);
    plot.current = canvas;
    const resized = new ResizeObserver(([entry]) => {
      const width = Math.floor(entry?.contentRect.width ?? 0);
      if (width > 0 && width !== canvas.width) canvas.setSize({ width, height: HEIGHT });
    });
    resized.observe(element);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const redraw = () => canvas.redraw(false);
    scheme.addEventListener('change', redraw);
    return () => {
      scheme.removeEventListener('change', redraw);
      resized.disconnect();
      canvas.destroy();
      plot.current = undefined;
    };
  }, [shape]);
  const drawn = useMemo(() => thinned(times, lines), [shape, times]);
  useEffect(() => {
    const seconds = drawn.times.map((at) => at / 1000);
    plot.current?.setData([seconds, ...drawn.values.map((values) => [...values])]);
  }, [shape, drawn]);
  const at = under === undefined ? undefined : drawn.times[under];
  return (
    <figure class="chart card" aria-labelledby={id}>
      <figcaption>
        <strong id={id}>{title}</strong>
        <span class="hint">
          {summary}
          {drawn.step === 1
            ? ''
            : `. Each point is the highest of ${span(((drawn.times[1] ?? 0) - (times[0] ?? 0)) / 1000)}`}
        </span>
      </figcaption>
      <ul class="chart-lines">
        {lines.map(({ name, tone, isBound }, line) => {
          const value = under === undefined ? undefined : drawn.values[line]?.[under];
          return (
            <li key={name} class={`tone-${tone}${isBound === true ? ' is-bound' : ''}`}>
              {name}
              {value === undefined || value === null ? '' : `: ${(show ?? whole)(value)}`}
            </li>
          );
        })}
        {at === undefined ? null : <li class="chart-at">{moment(at)}</li>}
      </ul>
      <div ref={box} class="chart-box" aria-hidden="true" />
      <details>
        <summary>Hours as a table</summary>
        <HoursTable title={title} times={times} lines={lines} show={show} />
      </details>
    </figure>
  );
}

/** @param setUnder is called with the time under the pointer */
function draw(
  element: HTMLElement,
  lines: readonly ChartLine[],
  show: (value: number) => string,
  setUnder: (at: number | undefined) => void,
): UPlot {
  const ink = () => colorOf(element, 'soft');
  const grid = { stroke: () => colorOf(element, 'line'), width: 1 };
  const axis = { stroke: ink, grid, ticks: { ...grid, size: 4 }, font: '12px system-ui, sans-serif' };
  return new UPlot(
    {
      width: Math.max(1, Math.floor(element.clientWidth)),
      height: HEIGHT,
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false } },
      scales: {
        x: { range: (_, from, to) => [Math.min(from, to - LEAST), to] },
        y: { range: (_, least, most) => [Math.min(0, least), Math.max(1, most * 1.1)] },
      },
      axes: [
        axis,
        { ...axis, size: 64, incrs: STEPS, values: (_, splits) => splits.map((each) => show(each)) },
      ],
      series: [
        {},
        ...lines.map(({ name, tone, isBound = false }) => ({
          label: name,
          stroke: () => colorOf(element, tone),
          width: isBound ? 1 : 1.5,
          ...(isBound
            ? { dash: [6, 4], points: { show: false } }
            : {
                points: {
                  show: true,
                  filter: (plot: UPlot, line: number) => isolated(plot.data[line] ?? []),
                },
              }),
        })),
      ],
      hooks: { setCursor: [({ cursor }) => setUnder(cursor.idx ?? undefined)] },
    },
    [[], ...lines.map(() => [])],
    element,
  );
}

/** The value of a style sheet variable for a canvas, in the current color scheme. */
function colorOf(element: HTMLElement, name: Tone | 'line'): string {
  const probe = document.createElement('span');
  probe.style.color = `var(--${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function HoursTable({ title, times, lines, show = whole }: Omit<ChartProps, 'summary'>) {
  const measured = lines.filter(({ isBound }) => isBound !== true);
  const hours = Map.groupBy(times.keys(), (at) => Math.floor((times[at] ?? 0) / HOUR));
  return (
    <Table
      label={`${title}, hour by hour`}
      rows={[...hours].toReversed()}
      keyOf={([hour]) => String(hour)}
      columns={[
        { title: 'Hour', cell: ([, places]) => clock(times[places[0] ?? 0] ?? 0) },
        ...measured.map(
          (line): TableColumn<readonly [number, readonly number[]]> => ({
            ...{ title: line.name, isNumber: true, cell: ([, places]) => ofHour(line, places, show) },
          }),
        ),
      ]}
    />
  );
}

function ofHour(
  { values, ofHour: how }: ChartLine,
  places: readonly number[],
  show: (value: number) => string,
): string {
  const there = places.map((at) => values[at]).filter((value) => typeof value === 'number');
  if (there.length === 0) return '–';
  return show(how === 'sum' ? there.reduce((sum, each) => sum + each, 0) : Math.max(...there));
}
