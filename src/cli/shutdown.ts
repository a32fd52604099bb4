/**
 * Signals of the process, and what it exits with because of them (contract, Command line). Signals are the process's and
 * no command's, so what came of them is kept here.
 *
 * One Ctrl-C may come more than once: the terminal gives it to every process in its foreground, and what started this one
 * passes on what it got. The launcher (bin/plat.js) therefore says over its channel that it got one, which counts beside
 * those that came here; npm and its like send another signal, soon after.
 */
import { leaveLine, reportLines } from './terminal.ts';

/** Milliseconds after which a command that was told to end does so, whatever it is doing. */
const PATIENCE = 10_000;
/** Milliseconds after which a person is told that it is ending. */
const QUIET = 1000;
/** Milliseconds within which a script runner passes on what this process got, too. */
const ECHO = 300;

/** What a command exits with that a signal cut short. A terminal that is closed (SIGHUP) ends it as SIGTERM does. */
const EXITS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 143 } as const;
type Signal = keyof typeof EXITS;
const SIGNALS: readonly Signal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Tells whoever asks that it is time to end. */
export interface Shutdown {
  readonly signal: AbortSignal;
  /** Resolves when the command is told to end. */
  readonly asked: Promise<void>;
}

/** Tells one press of a key, or one `kill`, from the next, however often each comes. */
export class Presses {
  readonly #came = { here: 0, launcher: 0 };
  readonly #echo: number;
  #last = Number.NEGATIVE_INFINITY;

  /** @param echo milliseconds within which a signal is the one before, passed on */
  constructor(echo: number) {
    this.#echo = echo;
  }

  /**
   * @param through what it came through
   * @param now milliseconds
   * @returns whether it is a new one
   */
  isNew(through: 'here' | 'launcher', now: number): boolean {
    const before = Math.max(this.#came.here, this.#came.launcher);
    this.#came[through]++;
    if (this.#came[through] <= before || now - this.#last < this.#echo) return false;
    this.#last = now;
    return true;
  }
}

let exit: number | undefined;
/** Of a command that has nothing to bring to its end: what is under way is undone by the store. */
const atOnce = (signal: Signal): never => process.exit(EXITS[signal]);
let obey: (signal: Signal) => void = atOnce;

/** Ends a command at once, until it says that it ends by itself. */
export function endOnSignals(): void {
  // A runner of scripts, which all of them say, sends its processes what it gets itself.
  const echo = process.env.npm_lifecycle_event === undefined ? 0 : ECHO;
  const heed = (signal: Signal): void => {
    if (signal === 'SIGINT') leaveLine();
    obey(signal);
  };
  const presses = { SIGINT: new Presses(echo), SIGTERM: new Presses(echo), SIGHUP: new Presses(echo) };
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (presses[signal].isNew('here', performance.now())) heed(signal);
    });
  }
  if (process.channel === undefined) return;
  process.on('message', (message) => {
    const signal = SIGNALS.find((name) => name === message);
    if (signal !== undefined && presses[signal].isNew('launcher', performance.now())) heed(signal);
  });
  // What it may say keeps nobody running.
  process.channel?.unref();
}

/** What the process exits with because of a signal; undefined where none came, or the command was waiting for it. */
export const exitOfSignal = (): number | undefined => exit;

/**
 * A command that ends by itself when it is told to; a second signal of the same kind ends it at once.
 * @param untilTold whether it goes on until it is told to end, and is then done
 */
export function onShutdown(untilTold = false): Shutdown {
  const controller = new AbortController();
  const told = new Set<Signal>();
  const endNow = (signal: Signal, why: string): never => {
    reportLines(`plat: ended at once, ${why}; what was committed is kept`);
    return process.exit(EXITS[signal]);
  };
  const asked = new Promise<void>((resolve) => {
    obey = (signal) => {
      if (told.has(signal)) endNow(signal, `by a second ${signal}`);
      told.add(signal);
      exit ??= untilTold ? undefined : EXITS[signal];
      controller.abort();
      setTimeout(() => reportLines(`plat: ending; a second ${signal} ends it at once`), QUIET).unref();
      setTimeout(() => endNow(signal, `${PATIENCE / 1000} s after ${signal}`), PATIENCE).unref();
      resolve();
    };
  });
  return { signal: controller.signal, asked };
}
