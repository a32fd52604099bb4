import {
  canWriteOver,
  endOver,
  isWatched,
  type Lengths,
  reportJson,
  reportLines,
  reportOver,
} from './terminal.ts';

/** Receives the progress of a long command. */
export interface Progress {
  /**
   * @param done progress towards `total`, in any unit
   * @param text shown beside the progress
   * @param counted the number in the text, if `done` has another unit, such as bytes of a file
   */
  update(done: number, text: string, counted?: number): void;
  /** Reports a line that stays on the screen. */
  tell(line: string): void;
}

/** Milliseconds between two lines of progress where nobody watches a screen, and between two looks of the one there. */
const EVERY = 2000;
const EVERY_ON_SCREEN = 100;

/** Reports the number of rows of a resource or table. */
export const rowProgress =
  ({ update }: Progress) =>
  (resource: string, rows: number): void =>
    update(rows, `${rows} rows, ${resource}`);

interface Pace {
  readonly rate: number;
  readonly left: number | undefined;
}

/**
 * Runs work with its progress on stderr: a bar with rate and time left on a terminal, lines of text on one that cannot
 * write over a line, lines of JSON elsewhere.
 * @param total what `update` counts up to; undefined: unknown
 */
export async function withProgress<T>(
  title: string,
  total: number | undefined,
  work: (progress: Progress) => Promise<T>,
): Promise<T> {
  const started = performance.now();
  const describe = (done: number): Pace => {
    const rate = done / Math.max(0.001, (performance.now() - started) / 1000);
    const left = total === undefined || rate === 0 ? undefined : Math.max(0, total - done) / rate;
    return { rate, left };
  };
  if (!canWriteOver()) return work(lines(title, total, describe));
  const screen = lineOfProgress(title, total, describe);
  reportOver([title]);
  try {
    return await work(screen);
  } finally {
    screen.end();
  }
}

/** One line that is written over; what was last known stays. */
function lineOfProgress(
  title: string,
  total: number | undefined,
  describe: (done: number) => Pace,
): Progress & { end(): void } {
  let last = performance.now();
  let line: Lengths = [title];
  return {
    update(done, text, counted = done) {
      line = lengths(title, done, total, text, { ...describe(done), rate: describe(counted).rate });
      const now = performance.now();
      if (now - last < EVERY_ON_SCREEN) return;
      last = now;
      reportOver(line);
    },
    tell: reportLines,
    end() {
      reportOver(line);
      endOver();
    },
  };
}

/** On a narrow terminal first the bar is shorter, then it is not there, and at last only how far it is. */
function lengths(
  title: string,
  done: number,
  total: number | undefined,
  text: string,
  { rate, left }: Pace,
): Lengths {
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

function lines(title: string, total: number | undefined, describe: (done: number) => Pace): Progress {
  let last = performance.now();
  return {
    update(done, text, counted = done) {
      const now = performance.now();
      if (now - last < EVERY) return;
      last = now;
      const { rate, left } = describe(done);
      if (isWatched()) {
        const [, , line = title] = lengths(title, done, total, text, { rate: describe(counted).rate, left });
        reportLines(line);
        return;
      }
      reportJson({
        time: new Date().toISOString(),
        task: title,
        done,
        total,
        rate: Math.round(rate),
        secondsLeft: left === undefined ? undefined : Math.round(left),
        text,
      });
    },
    tell: reportLines,
  };
}

const WIDTH = 24;

/** @param width of the bar in columns; 0: none, only how far it is */
function bar(done: number, total: number | undefined, width: number): string {
  if (total === undefined || total === 0) return '';
  const share = Math.min(1, done / total);
  const filled = Math.round(share * width);
  const drawn = width === 0 ? '' : `[${'█'.repeat(filled)}${'░'.repeat(width - filled)}] `;
  return `${drawn}${Math.floor(share * 100)} %`;
}

function timeLeft(seconds: number | undefined): string {
  if (seconds === undefined || !Number.isFinite(seconds)) return '';
  const minutes = Math.floor(seconds / 60);
  return `${minutes}:${String(Math.floor(seconds % 60)).padStart(2, '0')} left`;
}
