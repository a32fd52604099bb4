import { isWatched, reportJson, reportLines, reportOver } from './terminal.ts';

/** What a long command tells of its progress. */
export interface Progress {
  /** @param done of `total`, in whatever the command counts by; the text is said beside */
  update(done: number, text: string): void;
  /** Says something that stays. */
  tell(line: string): void;
}

/** Milliseconds between two lines of progress where nobody watches a screen, and between two looks of the one there. */
const EVERY = 2000;
const EVERY_ON_SCREEN = 100;

interface Pace {
  readonly rate: number;
  readonly left: number | undefined;
}

/**
 * Runs work with its progress on stderr: a bar with rate and time left on a terminal, lines of JSON elsewhere.
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
    return { rate, left: total === undefined || rate === 0 ? undefined : (total - done) / rate };
  };
  if (!isWatched()) return work(lines(title, total, describe));
  const screen = lineOfProgress(title, total, describe);
  reportOver(title, false);
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
  let line = title;
  return {
    update(done, text) {
      const { rate, left } = describe(done);
      line = [title, bar(done, total), text, `${Math.round(rate)}/s`, timeLeft(left)]
        .filter(Boolean)
        .join(' ');
      const now = performance.now();
      if (now - last < EVERY_ON_SCREEN) return;
      last = now;
      reportOver(line, false);
    },
    tell(said) {
      reportOver(said, true);
      reportOver(line, false);
    },
    end: () => reportOver(line, true),
  };
}

function lines(title: string, total: number | undefined, describe: (done: number) => Pace): Progress {
  let last = performance.now();
  return {
    update(done, text) {
      const now = performance.now();
      if (now - last < EVERY) return;
      last = now;
      const { rate, left } = describe(done);
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

function bar(done: number, total: number | undefined): string {
  if (total === undefined || total === 0) return '';
  const filled = Math.round((Math.min(done, total) / total) * WIDTH);
  return `[${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)}] ${Math.floor((done / total) * 100)} %`;
}

function timeLeft(seconds: number | undefined): string {
  if (seconds === undefined || !Number.isFinite(seconds)) return '';
  const minutes = Math.floor(seconds / 60);
  return `${minutes}:${String(Math.floor(seconds % 60)).padStart(2, '0')} left`;
}
