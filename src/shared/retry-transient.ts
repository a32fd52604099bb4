/** How long to retry, in milliseconds, and by which clock. */
interface RetryOptions {
  /** Whether a failure is transient. */
  readonly passes: (error: unknown) => boolean;
  /** How long to retry, from the first failure on. */
  readonly patience: number;
  /** The pause between two attempts. */
  readonly pause: number;
  readonly elapsed?: () => number;
  readonly sleep: (milliseconds: number) => Promise<unknown>;
}

/** Runs work until it succeeds, with pauses, as long as its failures are transient. @throws the last error */
export async function retryTransient<T>(
  attempt: () => T | Promise<T>,
  { passes, patience, pause, elapsed = () => performance.now(), sleep }: RetryOptions,
): Promise<T> {
  for (let end: number | undefined; ; ) {
    try {
      return await attempt();
    } catch (error) {
      end ??= elapsed() + patience;
      if (!passes(error) || elapsed() > end) throw error;
    }
    await sleep(pause);
  }
}
