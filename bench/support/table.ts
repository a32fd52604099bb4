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

export const milliseconds = (value: number): string => value.toFixed(value < 1 ? 3 : value < 100 ? 2 : 0);
export const ratio = (value: number, floor: number): string => {
  const times = value / floor;
  return times.toFixed(times < 10 ? 2 : 0);
};

const letterOf = (index: number): string => String.fromCharCode(65 + index);

/** A section as a Markdown table, with the names of its floors below it; ratios are of wall times. */
export function renderSection({ title, measurements, floors }: Section): string {
  const head = [title, 'wall ms', 'CPU ms', ...floors.map((_, index) => `× ${letterOf(index)}`), 'gives'];
  const rows = measurements.map(({ name, wall, cpu, gave }) => [
    name,
    milliseconds(wall),
    milliseconds(cpu),
    ...floors.map((floor) => ratio(wall, floor.wall)),
    gave,
  ]);
  return [...tableOf(head, rows, 1), ...legendOf(floors)].join('\n');
}

/** The same measurements on a file and on a server, side by side. The ratios are to the floors of each, and to each other. */
export function renderTwo(file: Section, server: Section): string {
  const letters = file.floors.map((_, index) => letterOf(index));
  const head = [
    file.title,
    ...['file: wall ms', 'CPU ms', ...letters.map((letter) => `× ${letter}`)],
    ...['server: wall ms', 'CPU ms of plat', 'of the server', ...letters.map((letter) => `× ${letter}`)],
    ...['server ÷ file', 'file gives', 'server gives'],
  ];
  const rows = file.measurements.map((one) => {
    const other = server.measurements.find(({ name }) => name === one.name);
    if (other === undefined) throw new Error(`${one.name} was not measured on the server`);
    return [
      ...[one.name, milliseconds(one.wall), milliseconds(one.cpu)],
      ...file.floors.map((floor) => ratio(one.wall, floor.wall)),
      ...[milliseconds(other.wall), milliseconds(other.cpu), milliseconds(other.server)],
      ...server.floors.map((floor) => ratio(other.wall, floor.wall)),
      ...[ratio(other.wall, one.wall), one.gave, other.gave],
    ];
  });
  return [...tableOf(head, rows, 2), ...legendOf(file.floors)].join('\n');
}

/** @param last the number of text columns at the end; the first column is text as well */
export function tableOf(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  last: number,
): string[] {
  const isText = (column: number): boolean => column === 0 || column >= head.length - last;
  const widths = head.map((cell, column) =>
    Math.max(cell.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const pad = (cell: string, column: number): string =>
    isText(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  const line = (cells: readonly string[]): string => `| ${cells.map(pad).join(' | ')} |`;
  const rule = widths.map((width, column) =>
    isText(column) ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`,
  );
  return [line(head), `|${rule.join('|')}|`, ...rows.map(line)];
}

function legendOf(floors: readonly Floor[]): string[] {
  const legend = floors.map(({ name }, index) => `${letterOf(index)}: ${name}`).join('; ');
  return floors.length === 0 ? [] : ['', `Ratios to ${legend}.`];
}
