/** How the steps of a read ask an engine for what they need: statements as data. */
import type { BoundValue, Slot } from '../compile/fragment.ts';
import type { PlannedStatement } from '../compile/page-plan.ts';
import type { Row } from './session.ts';

/** The values of the slots of a planned statement. */
export type Slots = Readonly<Partial<Record<Slot, BoundValue>>>;

/** A statement that a task needs answered. */
export interface Ask {
  /**
   * `rows`: its rows. `body`: the texts of its rows joined to a body; `page`: the same, and one row with the number of rows
   * and the last key; `joined`: the same of a statement that gives all of it in one row; `records`: the same as `body`, and for each row its key `k` and the bytes of its text `size`.
   */
  readonly gives: 'rows' | 'body' | 'page' | 'joined' | 'records';
  readonly statement: PlannedStatement;
  readonly slots: Slots;
  /**
   * Whether a server keeps it prepared. Statements of pages, records and lists recur; a client's filter has values of
   * its own, and its plan is made for them.
   */
  readonly isKept: boolean;
  /** The rows of a page, where the statement may give one more. */
  readonly limit?: number;
}

/** The answer to a statement. */
export interface Given {
  readonly rows: Iterable<Row>;
  /** Absent where no row has a text. */
  readonly body?: Uint8Array | undefined;
  /** As in a page. */
  readonly release?: () => void;
}

/** Steps that yield statements, several of which may be asked at once, and receive their answers. */
export type Steps<T> = Generator<readonly Ask[], T, readonly Given[]>;

export const NOTHING: Given = { rows: [] };

/** A step of one statement. */
export function* ask(asked: Ask): Steps<Given> {
  const [given = NOTHING] = yield [asked];
  return given;
}

/** Steps that ask something more along with what they ask first. */
export function* along<T>(
  asks: readonly Ask[],
  steps: Steps<T>,
): Steps<{ given: readonly Given[]; result: T }> {
  let step = steps.next();
  let given: readonly Given[] = [];
  if (step.done !== true) {
    const answers = yield [...asks, ...step.value];
    given = answers.slice(0, asks.length);
    step = steps.next(answers.slice(asks.length));
  } else given = yield asks;
  while (step.done !== true) step = steps.next(yield step.value);
  return { given, result: step.value };
}
