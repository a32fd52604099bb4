import type { StoreModel } from '../../compile/model.ts';
import { type CustomFieldDeclaration, REPLICA_TIMESTAMP } from '../../dictionary/index.ts';
import { PlatError } from '../../errors/index.ts';
import type { Store } from '../../store/store.ts';
import type { Listener } from '../events.ts';
import type { ForeignField } from '../source/source.ts';

/** The group of fields that a source has and does not declare. */
const GROUP = 'Source';
const API_NAME = /^[A-Za-z][A-Za-z0-9_]{0,127}$/;

/** Fields of a resource, those of the dictionary included: a table of PostgreSQL has 1600 columns, one of SQLite 2000. */
export const MOST_FIELDS = 1500;
/** The name under which all further fields of a resource are left out when there is no room for them. */
export const FURTHER = '*';

/** A field that stands in a record and not in the dictionary. */
export interface UnknownField {
  readonly resource: string;
  readonly name: string;
  readonly value: unknown;
}

/** A declaration for an unknown field, as far as one value of it tells. */
export function guessField({ resource, name, value }: UnknownField): ForeignField {
  return { resource, name, type: guessType(value), group: GROUP, label: name };
}

/** One field for two values of it: a text, where they are of different types. */
export function agreed(before: UnknownField | undefined, field: UnknownField): UnknownField {
  const isSame = before === undefined || guessType(before.value) === guessType(field.value);
  return isSame ? field : { ...field, value: '' };
}

function guessType(value: unknown): string {
  switch (typeof value) {
    case 'boolean':
      return 'boolean';
    case 'number':
      // A whole number beyond the exact ones is a name of digits, such as a key.
      return Number.isInteger(value) && !Number.isSafeInteger(value) ? 'string' : 'decimal(15,4)';
    default:
      return Array.isArray(value) && value.every((each) => typeof each === 'string') ? 'string[]' : 'string';
  }
}

/**
 * Makes the source's own fields custom fields of the replica. A field that the replica knows keeps its type; its group
 * and label follow the source, where the LocalName is the current name (specification 2.4, rule 2).
 * @returns those that cannot be declared: a name that is none, a type that stored values contradict; under the name `*`
 *   all that a table has no room for
 */
export async function declareFields(
  store: Store,
  fields: readonly ForeignField[],
  tell: Listener,
): Promise<ForeignField[]> {
  const refused: ForeignField[] = [];
  const named = fields.filter((field) => {
    const isName = API_NAME.test(field.name) && field.name !== REPLICA_TIMESTAMP;
    if (!isName && field.name !== REPLICA_TIMESTAMP) refused.push(field);
    return isName;
  });
  const { wanted, further } = fitting(await store.model(), named);
  refused.push(...further);
  if (wanted.length === 0) return refused;
  try {
    await declareAll(store, wanted, tell);
  } catch (error) {
    if (!(error instanceof PlatError && error.code === 'usage')) throw error;
    // One of them is at fault: the others are declared all the same.
    for (const field of wanted) {
      try {
        await declareAll(store, [field], tell);
      } catch (fault) {
        if (!(fault instanceof PlatError && fault.code === 'usage')) throw fault;
        refused.push(field);
      }
    }
  }
  return refused;
}

/** Fields that there is room for beside those that every record may have, and one name for the others of a resource. */
function fitting(
  model: StoreModel,
  fields: readonly ForeignField[],
): { readonly wanted: readonly ForeignField[]; readonly further: readonly ForeignField[] } {
  const counts = new Map<string, number>();
  const further = new Map<string, ForeignField>();
  const wanted = fields.filter((field) => {
    const known = model.resource(field.resource).fields;
    const count = counts.get(field.resource) ?? known.size;
    const isKnown = known.has(field.name);
    const fits = isKnown || count < MOST_FIELDS;
    if (fits) counts.set(field.resource, isKnown ? count : count + 1);
    else further.set(field.resource, { ...field, name: FURTHER });
    return fits;
  });
  return { wanted, further: [...further.values()] };
}

async function declareAll(store: Store, fields: readonly ForeignField[], tell: Listener): Promise<void> {
  const fresh: ForeignField[] = [];
  await store.configure((settings) => {
    fresh.length = 0;
    const known = new Map((settings.declarations.customFields ?? []).map((each) => [nameOf(each), each]));
    for (const field of fields) {
      const before = known.get(nameOf(field));
      if (before === undefined) fresh.push(field);
      known.set(nameOf(field), before === undefined ? field : renamed(before, field));
    }
    return { ...settings, declarations: { ...settings.declarations, customFields: [...known.values()] } };
  });
  for (const { resource, name } of fresh) tell({ kind: 'field', resource, name, taken: 'declared' });
}

const nameOf = ({ resource, name }: { readonly resource: string; readonly name: string }): string =>
  `${resource}.${name}`;

/** A guess tells nothing of the name. */
function renamed(before: CustomFieldDeclaration, { group, label }: ForeignField): CustomFieldDeclaration {
  return group === GROUP ? before : { ...before, group, label };
}
