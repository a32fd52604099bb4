/** Results, errors and exit codes of commands. */
import { type ErrorCode, failedError, PlatError } from '../errors/index.ts';
import { RequestFailure } from '../replica/http/failure.ts';
import { codeOf, messageOf, operatorMessage } from '../shared/error-code.ts';
import { LeaseLost } from '../store/checkpoint/checkpoints.ts';
import {
  escapeControls,
  reportLines,
  wasStdoutClosed,
  writeAndWait,
  writeJson,
  writeLines,
} from './terminal.ts';

/** The exit codes of docs/commands.md. */
export const EXIT = { done: 0, failed: 1, wrongUse: 2, differs: 3 } as const;

/** Writes a result to stdout, as JSON or as lines of text. */
export function print(result: object, lines: string | readonly string[], json: boolean | undefined): void {
  if (json) writeJson(result);
  else writeLines(lines);
}

/** What to do with a secret that could not be delivered. */
interface UndeliveredSecret {
  /** Names the secret, such as `the token of the key k_1`. */
  readonly what: string;
  /** Invalidates the secret. */
  readonly undo: () => Promise<unknown>;
  /** What `undo` does, such as `it is revoked`. */
  readonly undone: string;
  /** What is left to do if `undo` fails, such as `revoke it with "plat key revoke k_1"`. */
  readonly left: string;
  /** Whether the command is a service, which also runs without stdout, for instance in the background. */
  readonly serves?: boolean;
}

/**
 * Prints a secret, which cannot be printed again. If writing to stdout fails, for instance because a pipe is closed or a disk is
 * full, the secret is invalidated.
 * @throws PlatError `failed` if writing to stdout fails
 */
export async function printSecret(
  output: Parameters<typeof writeAndWait>[0],
  { what, undo, undone, left, serves = false }: UndeliveredSecret,
): Promise<void> {
  try {
    if (!serves && wasStdoutClosed()) throw new Error('it is closed');
    await writeAndWait(output);
  } catch (error) {
    const outcome = await undo().then(
      () => undone,
      (failed: unknown) => `${left}, since that failed: ${messageOf(failed)}`,
    );
    const reason = `stdout cannot be written: ${messageOf(error)}. Nobody has ${what}; ${outcome}.`;
    throw failedError(reason, { cause: error });
  }
}

/** Formats rows as lines with aligned columns. */
export function table(given: readonly (readonly string[])[]): string[] {
  const rows = given.map((row) => row.map(escapeControls));
  const widths =
    rows[0]?.map((_, column) => rows.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), 0)) ??
    [];
  return rows.map((row) =>
    row
      .map((value, column) => value.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** Failures that need no stack trace: those of a source, and a lease that another process has taken over. */
const isExpected = (error: unknown): boolean => error instanceof RequestFailure || error instanceof LeaseLost;

/** Errors in the request of the user, as opposed to failures during its execution. */
const WRONG_USE: ReadonlySet<string> = new Set<ErrorCode>(['usage', 'resourceFilled', 'resourceUnknown']);

/** Reports an error on stderr, in one line if it is expected. @returns the exit code */
export function reportFailure(error: unknown): number {
  const system = error instanceof Error && 'syscall' in error ? codeOf(error) : undefined;
  if (system === 'EPIPE') return EXIT.failed; // the reader has closed the pipe
  const text = operatorMessage(error);
  reportLines(`plat: ${text.replace(/\s+/g, ' ').trim()}`);
  if (error instanceof PlatError) return WRONG_USE.has(error.code) ? EXIT.wrongUse : EXIT.failed;
  if (!isExpected(error) && system === undefined && error instanceof Error && error.stack !== undefined)
    reportLines(error.stack.split('\n'));
  return EXIT.failed;
}
