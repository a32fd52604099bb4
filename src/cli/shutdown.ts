/**
 * Signals of the process, and what it exits with because of them (contract, Command line). Signals are the process's and
 * no command's, so what came of them is kept here.
 */

/** Milliseconds after which a command that was told to end does so, whatever it is doing. */
const PATIENCE = 10_000;

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

let exit: number | undefined;
/** Of a command that has nothing to bring to its end: what is under way is undone by the store. */
const atOnce = (signal: Signal): never => process.exit(EXITS[signal]);

/** Ends a command at once, until it says that it ends by itself. */
export function endOnSignals(): void {
  for (const signal of SIGNALS) process.once(signal, atOnce);
}

/** What the process exits with because of a signal; undefined where none came, or the command was waiting for it. */
export const exitOfSignal = (): number | undefined => exit;

/**
 * A command that ends by itself when it is told to; a second signal of the same kind ends it at once.
 * @param untilTold whether it goes on until it is told to end, and is then done
 */
export function onShutdown(untilTold = false): Shutdown {
  const controller = new AbortController();
  const asked = new Promise<void>((resolve) => {
    const end = (signal: Signal): void => {
      // The default of the system takes its place.
      process.removeListener(signal, end);
      exit ??= untilTold ? undefined : EXITS[signal];
      controller.abort();
      setTimeout(() => process.exit(EXITS[signal]), PATIENCE).unref();
      resolve();
    };
    for (const signal of SIGNALS) process.removeListener(signal, atOnce).on(signal, end);
  });
  return { signal: controller.signal, asked };
}
