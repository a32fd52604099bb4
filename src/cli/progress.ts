import { Listr } from 'listr2';

/** What a long command tells of its progress. */
export interface Progress {
  /** @param done of `total`, in whatever the command counts by; the text is said beside */
  update(done: number, text: string): void;
}

/** Milliseconds between two lines of progress where nobody watches a screen. */
const EVERY = 2000;

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
  const describe = (done: number): { rate: number; left: number | undefined } => {
    const rate = done / Math.max(0.001, (performance.now() - started) / 1000);
    return { rate, left: total === undefined || rate === 0 ? undefined : (total - done) / rate };
  };
  if (!process.stderr.isTTY) return work(lines(title, total, describe));
  let result: T | undefined;
  let finished = false;
  const list = new Listr(
    [
      {
        title,
        task: async (_context, task) => {
          result = await work({
            update: (done, text) => {
              task.title = `${title} ${bar(done, total)} ${text} ${timeLeft(describe(done).left)}`;
            },
          });
          finished = true;
        },
      },
    ],
    { fallbackRenderer: 'silent' },
  );
  await list.run();
  if (!finished || result === undefined) throw new Error(`${title} ended without a result`);
  return result;
}

function lines(
  title: string,
  total: number | undefined,
  describe: (done: number) => { rate: number; left: number | undefined },
): Progress {
  let last = performance.now();
  return {
    update(done, text) {
      const now = performance.now();
      if (now - last < EVERY) return;
      last = now;
      const { rate, left } = describe(done);
      const line = {
        time: new Date().toISOString(),
        task: title,
        done,
        total,
        rate: Math.round(rate),
        secondsLeft: left === undefined ? undefined : Math.round(left),
        text,
      };
      process.stderr.write(`${JSON.stringify(line)}\n`);
    },
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
