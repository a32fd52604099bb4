/** How long to try, in milliseconds, and by which clock. */
interface RetryOptions {
  /** Whether a failure is transient. */
  readonly passes: (error: unknown) => boolean;
  /** From the first failure on. */
  readonly patience: number;
  /** Between two attempts. */
  readonly pause: number;
  readonly elapsed?: () => number;
  readonly sleep: (milliseconds: number) => Promise<unknown>;
}

/** Tries until it succeeds, with pauses, while the failures are transient. @throws the last error */
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
