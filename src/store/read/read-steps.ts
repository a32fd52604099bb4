/** How the steps of a read request data from an engine: they describe statements as data. */
import type { BoundValue, Slot } from '../../compile/fragment.ts';
import type { PlannedStatement } from '../../compile/page-plan.ts';
import type { Row } from '../session.ts';

/** The values of the slots of a planned statement. */
export type Slots = Readonly<Partial<Record<Slot, BoundValue>>>;

/** A statement that a task needs to have executed. */
export interface StatementRequest {
  /**
   * The form of the result. `rows`: the rows. `body`: the texts of the rows joined to a body, and one row with their number `n`;
   * `page`: that body, and one row with the number of rows and the last key; `joined`: `page` for a statement that returns all of
   * it in one row; `records`: that body, and for each row its key `k` and the length of its text in bytes `size`.
   */
  readonly gives: 'rows' | 'body' | 'page' | 'joined' | 'records';
  readonly statement: PlannedStatement;
  readonly slots: Slots;
  /** Whether a server keeps it prepared: pages, records, lists recur; a client's filter is planned for its values. */
  readonly isKept: boolean;
  /** Whether each of the `rows` is read when the step requests it (`Dialect.kept`). */
  readonly isScan?: true;
  /** The number of rows of the page, if the statement may return one more. */
  readonly limit?: number;
  /** For `rows`: called with the rows before results of later statements of the same step arrive, if the engine supports that. */
  readonly heard?: (rows: readonly Row[]) => void;
  /** How to read marks of links, if the texts have any and the engine returns their keys as columns (`markedText`). */
  readonly links?: Links;
}

export interface Links {
  /** The number of links of a record. */
  readonly count: number;
  /** Finds the fragments that replace the mark of a record immediately. Absent: all marks stay. */
  readonly fragmentOf?: FragmentOf;
}

/**
 * Finds the fragment of a link (compile/text/linked-texts.ts) by the position of its key in a buffer; without a position, the link
 * has no key. If the result is undefined, the record keeps its mark.
 */
export type FragmentOf = (
  link: number,
  bytes?: Uint8Array,
  start?: number,
  end?: number,
) => Buffer | undefined;

export interface StatementResult {
  readonly rows: Iterable<Row>;
  /** Absent if no row has a text. */
  readonly body?: Uint8Array | undefined;
  /** Where the commas between the texts of a body are, if the engine knows. */
  readonly commas?: readonly number[];
  /** As in `OwnedBody`. */
  readonly release?: () => void;
}

/** Steps that yield statements, possibly several at once, and receive their results. */
export type Steps<T> = Generator<readonly StatementRequest[], T, readonly StatementResult[]>;

export const NO_RESULT: StatementResult = { rows: [] };

/** A step of one statement. */
export function* requestStatement(request: StatementRequest): Steps<StatementResult> {
  const [given = NO_RESULT] = yield [request];
  return given;
}

/** Steps that yield additional statements together with their first ones. */
export function* withStatements<T>(
  asks: readonly StatementRequest[],
  steps: Steps<T>,
): Steps<{ given: readonly StatementResult[]; result: T }> {
  let step = steps.next();
  let given: readonly StatementResult[] = [];
  if (step.done !== true) {
    const answers = yield [...asks, ...step.value];
    given = answers.slice(0, asks.length);
    step = steps.next(answers.slice(asks.length));
  } else given = yield asks;
  while (step.done !== true) step = steps.next(yield step.value);
  return { given, result: step.value };
}
