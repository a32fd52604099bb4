/** The order of records, in the syntax of either interface: `ListPrice desc,City`, or `-ListPrice,+City`. */
import { type InterfaceName, namesIn } from './view.ts';

interface Ordered {
  readonly name: string;
  readonly isDescending: boolean;
}

export function orderOf(name: InterfaceName, text: string): readonly Ordered[] {
  return namesIn(text).map((part) => {
    if (name === 'native') return { name: part.replace(/^[+-]/, ''), isDescending: part.startsWith('-') };
    const [field = '', direction = ''] = part.split(/\s+/);
    return { name: field, isDescending: direction.toLowerCase() === 'desc' };
  });
}

export const orderText = (name: InterfaceName, order: readonly Ordered[]): string =>
  order
    .map(({ name: field, isDescending }) =>
      name === 'native' ? `${isDescending ? '-' : '+'}${field}` : `${field}${isDescending ? ' desc' : ''}`,
    )
    .join(',');

/**
 * The order after a person has clicked a field: ascending first, then descending, then none.
 *
 * @param adds whether the field is added to the order instead of replacing it
 */
export function orderedBy(order: readonly Ordered[], field: string, adds: boolean): readonly Ordered[] {
  const before = order.find(({ name }) => name === field);
  const others = order.filter(({ name }) => name !== field);
  const own = before === undefined ? [false] : before.isDescending ? [] : [true];
  const now = own.map((isDescending) => ({ name: field, isDescending }));
  return adds ? [...others, ...now] : now;
}
