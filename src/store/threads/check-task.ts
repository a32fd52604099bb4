/** A part of a check as data, which can run on the calling thread or on another one with the same result. */
import type { CheckedRows, Checks, FaultPage, RowFaults, RowPlace } from '../check/checks.ts';
import type { LiveModel } from '../state/live-model.ts';

export interface CheckTask {
  readonly kind: 'check';
  readonly resource: string;
  /** The minimum generation of the model with which the check must run. */
  readonly generation: number;
  readonly part: CheckPart;
}

type CheckPart =
  | { readonly kind: 'row-faults'; readonly rows: CheckedRows }
  | { readonly kind: 'row-place'; readonly after: RowPlace | undefined; readonly limit: number }
  | { readonly kind: 'table-faults' };

export interface CheckResult {
  readonly kind: 'check';
  readonly faults?: FaultPage;
  readonly place?: RowPlace | undefined;
  readonly ofTable?: readonly RowFaults[];
}

export async function runCheck(checks: Checks, { resource, part }: CheckTask): Promise<CheckResult> {
  switch (part.kind) {
    case 'row-faults':
      return { kind: 'check', faults: await checks.rowFaults(resource, part.rows) };
    case 'row-place':
      return { kind: 'check', place: await checks.rowAfter(resource, part.after, part.limit) };
    case 'table-faults':
      return { kind: 'check', ofTable: await checks.tableFaults(resource) };
  }
}

/**
 * Makes the checks of a store.
 * @param here runs `work` with the checks on the calling thread
 * @param onThread runs a check on another thread; absent: the calling thread runs all checks
 */
export function makeThreadedChecks(
  live: LiveModel,
  here: (work: (checks: Checks) => Promise<CheckResult>) => Promise<CheckResult>,
  onThread: ((task: CheckTask) => Promise<CheckResult>) | undefined,
): Checks {
  const check = async (resource: string, part: CheckPart): Promise<CheckResult> => {
    const { generation } = await live.current();
    const task: CheckTask = { kind: 'check', resource, generation, part };
    return onThread === undefined ? here((checks) => runCheck(checks, task)) : onThread(task);
  };
  return {
    async rowFaults(resource, rows) {
      const { faults } = await check(resource, { kind: 'row-faults', rows });
      return faults ?? { rows: 0, read: 0, faults: [] };
    },
    rowAfter: async (resource, after, limit) =>
      (await check(resource, { kind: 'row-place', after, limit })).place,
    tableFaults: async (resource) => (await check(resource, { kind: 'table-faults' })).ofTable ?? [],
  };
}
