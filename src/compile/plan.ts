import type { BoundValue, Statement } from './fragment.ts';

export type PlannedStatement = Statement;

/**
 * How a page is read, as data that can be sent to another thread. All statements of a plan run on one snapshot.
 * - `range`: one statement gives body, row count and last key; it tells whether a row follows, or another does.
 * - `search`: statements that give ids, keys and order values, run until `limit + 1` rows are found; then one
 *   gives the body for the ids.
 * - `list`: the body for ids that are known, of which some rows may be gone.
 */
export type PagePlan =
  | { readonly kind: 'range'; readonly page: PlannedStatement; readonly more?: PlannedStatement }
  | {
      readonly kind: 'search';
      readonly find: readonly PlannedStatement[];
      readonly limit: number;
      readonly body: PlannedStatement;
    }
  | {
      readonly kind: 'list';
      readonly ids: Uint32Array;
      readonly limit: number;
      /** Which of some ids still name a visible row: id, key, position in the list. */
      readonly find: PlannedStatement;
      readonly body: PlannedStatement;
    };

/** A row of a `find` statement: id, key, then the values of the order's terms. */
export type FoundRow = readonly [id: number, key: string, ...values: BoundValue[]];
