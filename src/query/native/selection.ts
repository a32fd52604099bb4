/** `_select` and `_expand`: which parts of a record are given. */

import { type Field, NATIVE_COLLECTIONS, nearestOfEither } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import type { Selection } from '../request.ts';
import type { NativeNames } from './bind/names.ts';
import { shortened } from './faults.ts';
import { readList } from './lists.ts';

/** What a listing can be expanded with (specification 4.3, and the floor plans). */
export const LISTING_EXPANSIONS = [
  'Photos',
  'Videos',
  'VirtualTours',
  'Rooms',
  'Units',
  'OpenHouses',
  'Documents',
  'CustomFields',
  'FloorPlans',
] as const;
export type NativeExpansion = (typeof LISTING_EXPANSIONS)[number];

export interface NativeSelection extends Selection {
  /** The names as they were asked for, expansions aside; empty when all are given. */
  readonly names: readonly string[];
}

export interface Given {
  readonly selection: NativeSelection;
  /** In the order in which they were first named. */
  readonly expansions: readonly NativeExpansion[];
}

const ALL: NativeSelection = { all: true, fields: [], hidden: [], names: [] };

interface Chosen {
  readonly fields: Set<Field>;
  readonly hidden: Set<Field>;
  readonly names: Set<string>;
}

function* suggestions(names: NativeNames, expansions: readonly string[]): Generator<string> {
  yield* expansions;
  for (const name of names.names()) if (names.find(name).kind !== 'location') yield name;
}

/** Names of the RESO interface for what can be selected or expanded here. */
function* counterparts(
  names: NativeNames,
  expansions: readonly string[],
): Generator<readonly [string, string]> {
  // The first of several collections of one kind is the commonest.
  for (const [native, navigation] of NATIVE_COLLECTIONS.toReversed()) {
    if (expansions.includes(native)) yield [navigation, native];
  }
  yield* names.counterparts();
}

/** Whether the name could be taken. */
function choose(name: string, names: NativeNames, chosen: Chosen): boolean {
  const found = names.find(name);
  switch (found.kind) {
    case 'field':
      chosen.fields.add(found.field);
      break;
    case 'composite':
      for (const field of found.fields) chosen.fields.add(field);
      break;
    case 'hidden':
      chosen.hidden.add(found.field);
      break;
    case 'constant':
      break;
    case 'location':
    case 'unknown':
      return false;
  }
  chosen.names.add(name);
  return true;
}

/**
 * Reads both parameters. The name of an expansion in `_select` expands, too. A field that the key may not see
 * is kept apart, since it is given masked.
 * @param offered the expansions that this collection has
 * @throws PlatError `fieldUnknown`, `expansionUnknown`, `optionInvalid`
 */
export function bindSelection(
  select: string,
  expand: string,
  names: NativeNames,
  offered: readonly NativeExpansion[],
): Given {
  const expansions = new Set<NativeExpansion>();
  const chosen: Chosen = { fields: new Set(), hidden: new Set(), names: new Set() };
  const selected = readList('_select', select);
  for (const { text: name, position } of selected) {
    const expansion = offered.find((one) => one === name);
    if (expansion !== undefined) {
      expansions.add(expansion);
    } else if (!choose(name, names, chosen)) {
      const nearest = nearestOfEither(name, suggestions(names, offered), counterparts(names, offered));
      const facts = {
        name: shortened(name),
        nearest,
        resource: names.collection,
        option: '_select',
        position,
      };
      throw platError('fieldUnknown', facts, { target: '_select' });
    }
  }
  for (const { text: name } of readList('_expand', expand)) {
    expansions.add(offered.find((one) => one === name) ?? refuse(name, names, offered));
  }
  const { fields, hidden, names: named } = chosen;
  const selection =
    selected.length === 0 ? ALL : { all: false, fields: [...fields], hidden: [...hidden], names: [...named] };
  return { selection, expansions: [...expansions] };
}

function refuse(name: string, names: NativeNames, offered: readonly string[]): never {
  const named = [...counterparts(names, offered)].filter(([, here]) => offered.includes(here));
  const nearest = nearestOfEither(name, offered, named);
  const known = offered.length === 0 ? 'nothing here' : offered.join(', ');
  throw platError(
    'expansionUnknown',
    { option: '_expand', name: shortened(name), known, nearest },
    { target: '_expand' },
  );
}
