import type { Measurement } from './measure.ts';

/** What measurements are compared to. */
export interface Floor {
  readonly name: string;
  readonly wall: number;
}

export interface Section {
  readonly title: string;
  readonly measurements: readonly Measurement[];
  readonly floors: readonly Floor[];
}

const milliseconds = (value: number): string => value.toFixed(value < 1 ? 3 : value < 100 ? 2 : 0);
const ratio = (value: number, floor: number): string => {
  const times = value / floor;
  return times.toFixed(times < 10 ? 2 : 0);
};

/** A section as a Markdown table, with what its ratios are to beneath it; ratios are of wall times. */
export function renderSection({ title, measurements, floors }: Section): string {
  const letters = floors.map((_, index) => String.fromCharCode(65 + index));
  const head = [title, 'wall ms', 'CPU ms', ...letters.map((letter) => `× ${letter}`), 'gives'];
  const rows = measurements.map(({ name, wall, cpu, gave }) => [
    name,
    milliseconds(wall),
    milliseconds(cpu),
    ...floors.map((floor) => ratio(wall, floor.wall)),
    gave,
  ]);
  const isText = (column: number): boolean => column === 0 || column === head.length - 1;
  const widths = head.map((cell, column) =>
    Math.max(cell.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const pad = (cell: string, column: number): string =>
    isText(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  const line = (cells: readonly string[]): string => `| ${cells.map(pad).join(' | ')} |`;
  const rule = widths.map((width, column) =>
    isText(column) ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`,
  );
  const legend = floors.map(({ name }, index) => `${letters[index]}: ${name}`).join('; ');
  const beneath = floors.length === 0 ? [] : ['', `Ratios to ${legend}.`];
  return [line(head), `|${rule.join('|')}|`, ...rows.map(line), ...beneath].join('\n');
}
