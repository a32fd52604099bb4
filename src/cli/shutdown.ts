/** Milliseconds after which a command that was told to end does so, whatever it is doing. */
const PATIENCE = 10_000;

/** Ends with SIGINT and SIGTERM, and tells whoever asks that it is time. */
export interface Shutdown {
  readonly signal: AbortSignal;
  /** Resolves when the command is told to end. */
  readonly asked: Promise<void>;
}

export function onShutdown(): Shutdown {
  const controller = new AbortController();
  const asked = new Promise<void>((resolve) => {
    const end = (): void => {
      controller.abort();
      setTimeout(() => process.exit(1), PATIENCE).unref();
      resolve();
    };
    process.once('SIGINT', end);
    process.once('SIGTERM', end);
  });
  return { signal: controller.signal, asked };
}
