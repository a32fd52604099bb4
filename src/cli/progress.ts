/**
 * Progress of long commands on stderr: a line that is overwritten on a terminal, lines of text on a terminal that cannot overwrite,
 * lines of JSON elsewhere. This module does not know what the commands do.
 */
import {
  canOverwrite,
  isStderrTerminal,
  keepBottomLine,
  type LineVersions,
  overwriteLine,
  reportJson,
  reportLines,
} from './terminal.ts';

/** Receives the progress of a long command. */
export interface Progress {
  /**
   * @param done progress towards `total`, in any unit
   * @param text shown next to the progress
   * @param counted the number in the text, if `done` has another unit, such as bytes of a file
   * @param total the final value of `done`, if it is known only now
   */
  update(done: number, text: string, counted?: number, total?: number): void;
  /** Reports a line that stays on the screen. */
  reportLine(line: string): void;
}

/** Reports the number of rows of a resource or table. */
export const rowProgress =
  ({ update }: Progress) =>
  (resource: string, rows: number, total?: number): void =>
    update(rows, `${rows} rows, ${resource}`, rows, total);

/** Milliseconds between two lines that are appended (`lines`), and between two updates of a line that is overwritten (`screen`). */
export interface Intervals {
  readonly lines: number;
  readonly screen: number;
}

const USUAL_INTERVALS: Intervals = { lines: 2000, screen: 100 };

/** @returns whether the next line is due, at most once in each interval */
export function makeThrottle({ lines, screen }: Intervals, last = Number.NEGATIVE_INFINITY): () => boolean {
  const every = canOverwrite() ? screen : lines;
  let reported = last;
  return () => {
    const now = performance.now();
    if (now - reported < every) return false;
    reported = now;
    return true;
  };
}

/** Reports progress in the form that suits stderr. @param facts the members of a JSON line */
export function reportProgress(line: LineVersions, text: string, facts: object): void {
  if (canOverwrite()) overwriteLine(line);
  else if (isStderrTerminal()) reportLines(text);
  else reportJson({ time: new Date().toISOString(), ...facts });
}

interface Pace {
  readonly rate: number;
  readonly left: number | undefined;
}

/** Runs work and reports its progress. @param known the final value of `done`; undefined if it is unknown at first */
export async function withProgress<T>(
  title: string,
  known: number | undefined,
  work: (progress: Progress) => Promise<T>,
): Promise<T> {
  const started = performance.now();
  const writesOver = canOverwrite();
  const isDue = makeThrottle(USUAL_INTERVALS, started);
  const paceOf = (done: number, total?: number): Pace => {
    const rate = done / Math.max(0.001, (performance.now() - started) / 1000);
    const left = total === undefined || rate === 0 ? undefined : Math.max(0, total - done) / rate;
    return { rate, left };
  };
  let line: LineVersions = [title];
  const update = (done: number, text: string, counted = done, total = known): void => {
    const isNext = isDue();
    // The last line stays on the screen, so it is kept up to date between two reports.
    if (!isNext && !writesOver) return;
    const { rate, left } = paceOf(done, total);
    line = lineVersions(title, done, total, text, { rate: paceOf(counted).rate, left });
    if (!isNext) return;
    const secondsLeft = left === undefined ? undefined : Math.round(left);
    const [, , shorter = title] = line;
    reportProgress(line, shorter, { task: title, done, total, rate: Math.round(rate), secondsLeft, text });
  };
  if (writesOver) overwriteLine(line);
  try {
    return await work({ update, reportLine: reportLines });
  } finally {
    if (writesOver) {
      overwriteLine(line);
      keepBottomLine();
    }
  }
}

/** On narrower terminals, the bar is first shortened, then omitted; the percentage is shown as long as possible. */
function lineVersions(
  title: string,
  done: number,
  total: number | undefined,
  text: string,
  { rate, left }: Pace,
): LineVersions {
  const joined = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join(' ');
  const pace = `${Math.round(rate)}/s`;
  return [
    joined(title, bar(done, total, WIDTH), text, pace, timeLeft(left)),
    joined(title, bar(done, total, WIDTH / 3), text, pace, timeLeft(left)),
    joined(title, bar(done, total, 0), text, timeLeft(left)),
    joined(title, bar(done, total, 0), timeLeft(left)),
    joined(total === undefined ? text : bar(done, total, 0), title),
  ];
}

const WIDTH = 24;

/** @param width the width of the bar in columns; 0: only the percentage */
function bar(done: number, total: number | undefined, width: number): string {
  if (total === undefined || total === 0) return '';
  const share = Math.min(1, done / total);
  const filled = Math.round(share * width);
  const [full, empty] = hasUtf8Locale(process.env) ? ['█', '░'] : ['#', '-'];
  const drawn = width === 0 ? '' : `[${full.repeat(filled)}${empty.repeat(width - filled)}] `;
  return `${drawn}${Math.floor(share * 100)} %`;
}

/** Whether the terminal shows UTF-8, which is the case unless the locale says otherwise. */
export function hasUtf8Locale({
  LC_ALL,
  LC_CTYPE,
  LANG,
}: Readonly<Record<string, string | undefined>>): boolean {
  const locale = LC_ALL || LC_CTYPE || LANG;
  return !locale || /utf-?8/i.test(locale);
}

const timeLeft = (seconds: number | undefined): string =>
  seconds === undefined || !Number.isFinite(seconds) ? '' : `${formatSeconds(seconds)} left`;

/** Seconds as `m:ss`. */
export const formatSeconds = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;
