/**
 * Signals of the process, and the exit codes that they cause (docs/commands.md). Signals belong to the process rather than to
 * a command, so this module keeps their state.
 *
 * One Ctrl-C can arrive more than once: the terminal sends it to every process in its foreground, and the parent process
 * forwards it. The launcher (bin/plat.js) therefore reports its signals over its channel, and they are matched with those that
 * arrive directly; npm and similar programs forward the signal itself, shortly after, and `timeout` sends it twice at once.
 */
import { reportLines, startNewLine } from './terminal.ts';

/** Milliseconds after a signal after which a command ends in any case. */
const GRACE = 10_000;
/** Milliseconds after a signal after which the command reports that it is ending. */
const NOTICE = 1000;
/** Milliseconds within which a script runner forwards a signal that this process has also received directly. */
const FORWARD_WINDOW = 300;
/** Milliseconds within which `timeout` sends a signal to its command, and again to all processes of its group. */
const REPEAT_WINDOW = 50;
/** Milliseconds between two checks whether the shell that started this process still exists. */
const PARENT_CHECK_INTERVAL = 500;

/** The exit codes of interrupted commands. A closed terminal (SIGHUP) counts as SIGTERM. */
const EXITS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 143 } as const;
type Signal = keyof typeof EXITS;
const SIGNALS: readonly Signal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

export interface Shutdown {
  readonly signal: AbortSignal;
  /** Resolves when the command should end. */
  readonly asked: Promise<void>;
  /** Runs work that needs no cleanup, such as opening a store: a signal during it ends the command at once. */
  starting<T>(work: () => Promise<T>): Promise<T>;
}

/** Distinguishes one key press, or one `kill`, from the next, however often the signal of each arrives. */
export class SignalFilter {
  readonly #came = { here: 0, launcher: 0 };
  readonly #echo: number;
  #last = Number.NEGATIVE_INFINITY;

  /** @param echo milliseconds within which a second signal counts as the previous one, forwarded */
  constructor(echo: number) {
    this.#echo = echo;
  }

  /**
   * @param through the path on which it arrived
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

let signalExitCode: number | undefined;
/** Ends a command that needs no cleanup: the store rolls back what is in progress. */
const exitAtOnce = (signal: Signal): never => process.exit(EXITS[signal]);
let onSignal: (signal: Signal) => void = exitAtOnce;

/** Ends the process at once on a signal, unless a command handles signals itself. */
export function endOnSignals(): void {
  // Script runners, which all set this variable, forward signals to their processes.
  const echo = process.env.npm_lifecycle_event === undefined ? REPEAT_WINDOW : FORWARD_WINDOW;
  const handle = (signal: Signal): void => {
    if (signal === 'SIGINT') startNewLine();
    onSignal(signal);
  };
  const presses = {
    SIGINT: new SignalFilter(echo),
    SIGTERM: new SignalFilter(echo),
    SIGHUP: new SignalFilter(echo),
  };
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (presses[signal].isNew('here', performance.now())) handle(signal);
    });
  }
  // npx starts a shell, and a signal to npx ends both but does not reach this process.
  const parent = process.ppid;
  if (process.env.npm_lifecycle_event === 'npx') {
    const look = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(look);
      handle('SIGTERM');
    }, PARENT_CHECK_INTERVAL).unref();
  }
  if (process.channel === undefined) return;
  process.on('message', (message) => {
    const signal = SIGNALS.find((name) => name === message);
    if (signal !== undefined && presses[signal].isNew('launcher', performance.now())) handle(signal);
  });
  // The channel must not keep the process running.
  process.channel?.unref();
}

/**
 * The exit code of a command that a signal interrupted; undefined if there was no signal, or if a signal is the normal end of the
 * command.
 */
export const exitCodeOfSignal = (): number | undefined => signalExitCode;

/**
 * Lets a command end by itself after a signal. A second signal of the same kind ends it at once.
 * @param runsUntilSignal whether a signal is the normal end of the command
 */
export function onShutdown(runsUntilSignal = false): Shutdown {
  const controller = new AbortController();
  const received = new Set<Signal>();
  let isStarting = false;
  const endNow = (signal: Signal, why: string): never => {
    reportLines(`plat: ended at once, ${why}; committed data is kept`);
    return process.exit(EXITS[signal]);
  };
  const asked = new Promise<void>((resolve) => {
    onSignal = (signal) => {
      if (isStarting) process.exit(runsUntilSignal ? 0 : EXITS[signal]);
      if (received.has(signal)) endNow(signal, `by a second ${signal}`);
      received.add(signal);
      signalExitCode ??= runsUntilSignal ? undefined : EXITS[signal];
      controller.abort();
      setTimeout(() => reportLines(`plat: ending; a second ${signal} ends it at once`), NOTICE).unref();
      setTimeout(() => endNow(signal, `${GRACE / 1000} s after ${signal}`), GRACE).unref();
      resolve();
    };
  });
  const starting = async <T>(work: () => Promise<T>): Promise<T> => {
    isStarting = true;
    try {
      return await work();
    } finally {
      isStarting = false;
    }
  };
  return { signal: controller.signal, asked, starting };
}
