import type { Measurement } from './measure.ts';

/** What all else is compared to: the same page without any database. */
export interface Floors {
  readonly concatenated: number;
  readonly stringified: number;
}

export interface Section {
  readonly title: string;
  readonly measurements: readonly Measurement[];
}

const HEAD = ['', 'wall ms', 'CPU ms', '× buffers', '× stringify', 'gives'];

const milliseconds = (value: number): string => value.toFixed(value < 1 ? 3 : value < 100 ? 2 : 0);
const ratio = (value: number, floor: number): string => {
  const times = value / floor;
  return times.toFixed(times < 10 ? 2 : 0);
};

/** A section as a Markdown table; ratios are of wall times. */
export function renderSection({ title, measurements }: Section, floors: Floors): string {
  const rows = measurements.map(({ name, wall, cpu, gave }) => [
    name,
    milliseconds(wall),
    milliseconds(cpu),
    ratio(wall, floors.concatenated),
    ratio(wall, floors.stringified),
    gave,
  ]);
  const head = [title, ...HEAD.slice(1)];
  const widths = head.map((cell, column) =>
    Math.max(cell.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => pad(cell, widths[column] ?? 0, column)).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => (isText(column) ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

const isText = (column: number): boolean => column === 0 || column === HEAD.length - 1;

const pad = (cell: string, width: number, column: number): string =>
  isText(column) ? cell.padEnd(width) : cell.padStart(width);
