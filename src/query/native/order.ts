/** `_orderby`: fields, each with `-` for descending or nothing (or `+`, which arrives as a space) for ascending. */

import { nearestOfEither } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import { canonicalText } from '../canonical.ts';
import type { OrderTerm } from '../tree.ts';
import { customName, type NativeName, type NativeNames } from './bind/names.ts';
import { shortened } from './faults.ts';
import { type Item, readList } from './lists.ts';

const ORDER = '_orderby';
const TERM = /^([-+]?)\s*(?:([A-Za-z][A-Za-z0-9]*)|"([^"]+)"\."([^"]+)")$/;

interface Named {
  readonly name: string;
  readonly found: NativeName;
  readonly others: () => Iterable<string>;
  readonly descending: boolean;
}

function look({ text }: Item, names: NativeNames): Named | undefined {
  const [whole, sign, plain, group = '', label = ''] = TERM.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const descending = sign === '-';
  if (plain !== undefined) return { name: plain, found: names.find(plain), others: names.names, descending };
  const found = names.findCustom(group, label);
  return { name: customName(group, label), found, others: names.customNames, descending };
}

function bindTerm(item: Item, names: NativeNames): OrderTerm | undefined {
  const named = look(item, names);
  if (named === undefined) {
    const expected = 'fields with commas between them, each with "-" in front for descending';
    throw platError(
      'optionInvalid',
      { name: ORDER, value: shortened(item.text), expected },
      { target: ORDER },
    );
  }
  const { name, found, others, descending } = named;
  const { position } = item;
  const refuse = (reason: string) =>
    platError('typeMismatch', { option: ORDER, position, reason: `${name} ${reason}` }, { target: ORDER });
  switch (found.kind) {
    case 'field': {
      const { field, via } = found;
      if (field.collection) throw refuse('has several values, which give no order');
      return { expression: { kind: 'field', type: field.type.kind, scope: 0, via, field }, descending };
    }
    case 'computed':
      return { expression: found.expression, descending };
    case 'constant':
      return undefined;
    case 'composite':
      throw refuse('is made of several fields, which give no order');
    case 'location':
      throw refuse('is a point, which gives no order');
    case 'hidden':
    case 'unknown': {
      const nearest = nearestOfEither(name, others(), names.counterparts());
      const facts = { name: shortened(name), nearest, resource: names.collection, option: ORDER, position };
      throw platError('fieldUnknown', facts, { target: ORDER });
    }
  }
}

/**
 * Reads `_orderby`. A field that stands twice counts where it stands first: later it decides nothing.
 * @throws PlatError `fieldUnknown`, `typeMismatch`, `optionInvalid`
 */
export function bindOrder(value: string, names: NativeNames): readonly OrderTerm[] {
  const terms = new Map<string, OrderTerm>();
  for (const item of readList(ORDER, value)) {
    const term = bindTerm(item, names);
    if (term === undefined) continue;
    const identity = canonicalText(term.expression);
    if (!terms.has(identity)) terms.set(identity, term);
  }
  return [...terms.values()];
}
