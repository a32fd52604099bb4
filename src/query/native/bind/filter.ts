/** The whole filter: its text becomes the query tree, or one error that names every part at fault. */
import type { Expression } from '../../tree.ts';
import { errorOf } from '../faults.ts';
import type { Filter } from '../syntax/nodes.ts';
import { parseFilter } from '../syntax/parse.ts';
import { bindCondition } from './condition.ts';
import type { BindContext } from './context.ts';
import { negate, together } from './logic.ts';
import type { NativeNames } from './names.ts';

function bind(context: BindContext, filter: Filter): Expression | undefined {
  switch (filter.kind) {
    case 'condition':
      return bindCondition(context, filter);
    case 'not': {
      const operand = bind(context, filter.operand);
      return operand === undefined ? undefined : negate(operand);
    }
    case 'and':
    case 'or': {
      const terms = filter.terms.map((term) => bind(context, term));
      const bound = terms.filter((term) => term !== undefined);
      return bound.length < terms.length ? undefined : together(filter.kind, bound);
    }
  }
}

/**
 * Reads `_filter` (SparkQL) into the query tree. An empty text is no filter: undefined.
 *
 * The tree never asks for a record that the words do not: a condition is true or false, never null, and a
 * multi-valued field meets a condition when one of its members does.
 *
 * @param now the time of the request, for `now()`, `days()` and their like; days begin at midnight UTC
 * @throws PlatError `syntax`, `typeMismatch`, `fieldUnknown` (native 1040), `filterTooLarge` (native 1041) or
 *   `notImplemented`, of the first fault; its `sparkql` names all of them
 */
export function bindFilter(
  text: string,
  names: NativeNames,
  { now }: { readonly now: Date },
): Expression | undefined {
  const { filter, faults } = parseFilter(text);
  const context: BindContext = { names, now, faults: [...faults] };
  const bound = filter === undefined ? undefined : bind(context, filter);
  const error = errorOf(context.faults);
  if (error !== undefined) throw error;
  return bound;
}
