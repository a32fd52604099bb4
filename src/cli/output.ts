import { PlatError } from '../errors/index.ts';
import { RequestFailure } from '../replica/http/failure.ts';
import { LeaseLost } from '../store/ledger.ts';

/** Exit codes (contract, Command line). */
export const EXIT = { done: 0, failed: 1, wrongUse: 2, differs: 3 } as const;

/** A result, on stdout: JSON for programs, else text for people. */
export function print(result: unknown, text: string, json: boolean | undefined): void {
  process.stdout.write(json ? `${JSON.stringify(result)}\n` : `${text}\n`);
}

/** Rows in columns as wide as their widest value. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row
        .map((value, column) => value.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Failures that need no trace: what a source says, and that another process has taken over. */
const isExpected = (error: unknown): boolean => error instanceof RequestFailure || error instanceof LeaseLost;

/** Tells an error on stderr, in one line where it is known what it means, and what it means for the exit code. */
export function fail(error: unknown): number {
  const system = systemCode(error);
  if (system === 'EPIPE') return EXIT.failed; // nobody reads any more
  const text = error instanceof Error ? error.message : String(error);
  process.stderr.write(`plat: ${isExpected(error) ? text.replace(/[\s\p{Cc}]+/gu, ' ').trim() : text}\n`);
  if (error instanceof PlatError) return error.code === 'usage' ? EXIT.wrongUse : EXIT.failed;
  if (!isExpected(error) && system === undefined && error instanceof Error && error.stack !== undefined)
    process.stderr.write(`${error.stack}\n`);
  return EXIT.failed;
}

/** The code of what the operating system refused, such as ENOSPC. */
function systemCode(error: unknown): string | undefined {
  const isSystem = error instanceof Error && 'syscall' in error && 'code' in error;
  return isSystem && typeof error.code === 'string' ? error.code : undefined;
}
