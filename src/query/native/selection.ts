/** Binds `_select` and `_expand`: the parts of a record that a response includes. */

import {
  type Field,
  NATIVE_COLLECTIONS,
  nearestName,
  nearestOfEither,
  PART_EXPANSIONS,
  type PartExpansion,
} from '../../dictionary/index.ts';
import { type PlatError, platError } from '../../errors/index.ts';
import type { Computed, Selection } from '../request.ts';
import { shortened } from './faults.ts';
import type { NativeName, NativeNames } from './names.ts';
import { readList } from './parameters.ts';

const OTHER_EXPANSIONS = ['CustomFields', 'PrimaryPhoto', 'Supplement'] as const;

/** The expansions of a listing (specification 4.3, and floor plans). */
export type NativeExpansion = PartExpansion | (typeof OTHER_EXPANSIONS)[number];
export const LISTING_EXPANSIONS: readonly NativeExpansion[] = [...PART_EXPANSIONS, ...OTHER_EXPANSIONS];

interface NativeSelection extends Selection {
  /** Texts that are computed from fields, by the names that the request used. */
  readonly computed: readonly Computed[];
  /** The names in the request, without expansions; empty if all fields are selected. */
  readonly names: readonly string[];
}

/** The selected members of an expansion's records; an expansion without an entry includes all members. */
export type SelectedMembers = Readonly<Partial<Record<NativeExpansion, readonly string[]>>>;

export interface OfferedExpansions {
  readonly expansions: readonly NativeExpansion[];
  /** The members of the records of an expansion, if they can be selected. */
  readonly membersOf?: (expansion: NativeExpansion) => readonly string[];
}

export interface BoundSelection {
  readonly selection: NativeSelection;
  /** In the order of their first occurrence. */
  readonly expansions: readonly NativeExpansion[];
  readonly members: SelectedMembers;
}

const ALL: NativeSelection = { all: true, fields: [], hidden: [], computed: [], names: [] };

interface SelectionDraft {
  readonly fields: Set<Field>;
  readonly hidden: Set<Field>;
  readonly computed: Computed[];
  readonly names: Set<string>;
}

const CUSTOM = /^"([^"]+)"\."([^"]+)"$/;
const MEMBER = /^([A-Za-z]+)\.([A-Za-z0-9]+)$/;

function* suggestions(names: NativeNames, expansions: readonly string[]): Generator<string> {
  yield* expansions;
  for (const name of names.names()) if (names.find(name).kind !== 'location') yield name;
}

/** Names of the RESO interface for what can be selected or expanded here. */
function* counterparts(
  names: NativeNames,
  expansions: readonly string[],
): Generator<readonly [string, string]> {
  // Reversed, because the first of several collections with the same navigation is the most common one and must take precedence.
  for (const [native, navigation] of NATIVE_COLLECTIONS.toReversed()) {
    if (expansions.includes(native)) yield [navigation, native];
  }
  yield* names.counterparts();
}

/** A field under the name that the request used. */
const withRequestedName = (field: Field, givenAs: string | undefined): Field =>
  givenAs === undefined ? field : { ...field, nativeName: givenAs };

function resolveName(name: string, names: NativeNames): NativeName {
  const [, group, label] = CUSTOM.exec(name) ?? [];
  return group === undefined || label === undefined ? names.find(name) : names.findCustom(group, label);
}

/** Adds a name to the selection. @returns whether it exists */
function selectName(name: string, names: NativeNames, chosen: SelectionDraft): boolean {
  if (chosen.names.has(name)) return true;
  const found = resolveName(name, names);
  switch (found.kind) {
    case 'field':
      if (names.always?.includes(name) !== true) {
        chosen.fields.add(withRequestedName(found.field, found.givenAs));
      }
      break;
    case 'computed':
      chosen.computed.push({ name, expression: found.expression });
      break;
    case 'composite':
      for (const field of found.fields) chosen.fields.add(field);
      break;
    case 'hidden':
      chosen.hidden.add(withRequestedName(found.field, found.givenAs));
      break;
    case 'constant':
      break;
    case 'location':
      return false;
    case 'unknown':
      if (names.always?.includes(name) !== true) return false;
      break;
  }
  chosen.names.add(name);
  return true;
}

/**
 * Binds both parameters. An expansion that is named in `_select` is also expanded; if only some of its members are named, only
 * these are included. Fields that the key may not see are listed separately, because they are masked.
 * @throws PlatError `fieldUnknown`, `expansionUnknown`, `optionInvalid`
 */
export function bindSelection(
  select: string,
  expand: string,
  names: NativeNames,
  { expansions: offered, membersOf }: OfferedExpansions,
): BoundSelection {
  const expansions = new Set<NativeExpansion>();
  const members = new Map<NativeExpansion, Set<string>>();
  const wholeExpansions = new Set<NativeExpansion>();
  const chosen: SelectionDraft = { fields: new Set(), hidden: new Set(), computed: [], names: new Set() };
  const unknown = (
    text: string,
    resource: string,
    position: number,
    nearest: string | undefined,
  ): PlatError => {
    const facts = { name: shortened(text), nearest, resource, option: '_select', position };
    return platError('fieldUnknown', facts, { target: '_select' });
  };
  const selected = readList('_select', select);
  for (const { text: name, position } of selected) {
    const expansion = offered.find((one) => one === name);
    const [, of, member = ''] = MEMBER.exec(name) ?? [];
    const part = offered.find((one) => one === of);
    const known = part === undefined ? [] : (membersOf?.(part) ?? []);
    if (expansion !== undefined) {
      expansions.add(expansion);
      wholeExpansions.add(expansion);
    } else if (part !== undefined && known.length > 0) {
      if (!known.includes(member)) throw unknown(member, part, position, nearestName(member, known));
      expansions.add(part);
      members.set(part, (members.get(part) ?? new Set()).add(member));
    } else if (!selectName(name, names, chosen)) {
      const others = CUSTOM.test(name)
        ? nearestName(name, names.customNames())
        : nearestOfEither(name, suggestions(names, offered), counterparts(names, offered));
      throw unknown(name, names.collection, position, others);
    }
  }
  for (const { text: name } of readList('_expand', expand)) {
    expansions.add(offered.find((one) => one === name) ?? throwUnknownExpansion(name, names, offered));
  }
  const { fields, hidden, computed, names: named } = chosen;
  const selection =
    selected.length === 0
      ? ALL
      : { all: false, fields: [...fields], hidden: [...hidden], computed, names: [...named] };
  const narrowed = [...members].filter(([expansion]) => !wholeExpansions.has(expansion));
  return {
    selection,
    expansions: [...expansions],
    members: Object.fromEntries(narrowed.map(([expansion, those]) => [expansion, [...those]])),
  };
}

function throwUnknownExpansion(name: string, names: NativeNames, offered: readonly string[]): never {
  const named = [...counterparts(names, offered)].filter(([, here]) => offered.includes(here));
  const nearest = nearestOfEither(name, offered, named);
  const known = offered.length === 0 ? 'nothing here' : offered.join(', ');
  throw platError(
    'expansionUnknown',
    { option: '_expand', name: shortened(name), known, nearest },
    { target: '_expand' },
  );
}
