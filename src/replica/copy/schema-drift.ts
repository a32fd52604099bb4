/**
 * Fields that a source has and the dictionary lacks: they are declared, as far as there is room and their names permit.
 */
import type { StoreModel } from '../../compile/model.ts';
import { type CustomFieldDeclaration, REPLICA_TIMESTAMP } from '../../dictionary/index.ts';
import { PlatError } from '../../errors/index.ts';
import type { ParsedRecord } from '../../records/parsed-record.ts';
import { isUnsafeInteger, losesOnlyFraction } from '../../records/value.ts';
import { LongNumber } from '../../shared/json.ts';
import type { Store } from '../../store/store.ts';
import type { Listener } from '../events.ts';
import type { ForeignField } from '../source/source.ts';

/** The group of fields that a source has and does not declare. */
const GROUP = 'Source';
const API_NAME = /^[A-Za-z][A-Za-z0-9_]{0,127}$/;

/**
 * The maximum number of fields of a resource, including those of the dictionary: a table of PostgreSQL has 1600
 * columns, one of SQLite 2000.
 */
export const MOST_FIELDS = 1500;
/** The name under which all further fields of a resource are omitted if there is no room for them. */
const FURTHER = '*';

/** A field that a record has and the dictionary lacks. */
export interface UnknownField {
  readonly resource: string;
  readonly name: string;
  readonly value: unknown;
}

export const fieldName = ({ resource, name }: { readonly resource: string; readonly name: string }): string =>
  `${resource}.${name}`;

/** The fields of a record and of its collections that have a value, and that the dictionary lacks. */
export const unknownFields = ({ dropped }: ParsedRecord): readonly UnknownField[] =>
  dropped.filter(({ name, why, value }) => why === 'unknown' && value !== null && name !== REPLICA_TIMESTAMP);

/** Those that the copy does not leave out. @param ignored the names of the fields that it does */
export const notIgnored = (fields: readonly UnknownField[], ignored: ReadonlySet<string>): UnknownField[] =>
  fields.filter(
    (field) => !ignored.has(fieldName(field)) && !ignored.has(fieldName({ ...field, name: FURTHER })),
  );

/** A declaration for an unknown field, derived from one of its values. */
export function guessField({ resource, name, value }: UnknownField): ForeignField {
  return { resource, name, type: guessType(value), group: GROUP, label: name };
}

/** One field for two of its values: a text if they are of different types. */
export function mergeUnknownField(before: UnknownField | undefined, field: UnknownField): UnknownField {
  const isSame = before === undefined || guessType(before.value) === guessType(field.value);
  return isSame ? field : { ...field, value: '' };
}

const DECIMAL = 'decimal(15,4)';

function guessType(value: unknown): string {
  switch (typeof value) {
    case 'boolean':
      return 'boolean';
    case 'number':
      return isUnsafeInteger(value) ? 'string' : DECIMAL;
    default:
      // A number that is too long is an identifier made of digits, such as a key, unless only its fraction is so long.
      if (value instanceof LongNumber) return losesOnlyFraction(Number(value.text)) ? DECIMAL : 'string';
      return Array.isArray(value) && value.every((each) => typeof each === 'string') ? 'string[]' : 'string';
  }
}

/**
 * Makes the source's own fields custom fields of the replica. A field that the replica knows keeps its type; its group
 * and label follow the source, where the LocalName is the current name (specification 2.4, rule 2).
 * @returns those that cannot be declared: a name that is not an API name, a type that stored values contradict; under
 * the name `*`, all for which a table has no room
 */
export async function declareFields(
  store: Store,
  fields: readonly ForeignField[],
  report: Listener,
): Promise<ForeignField[]> {
  const candidates = fields.filter(({ name }) => name !== REPLICA_TIMESTAMP);
  const named = candidates.filter(({ name }) => API_NAME.test(name));
  const { fitting, further } = splitFittingFields(await store.model(), named);
  const refused = [...candidates.filter(({ name }) => !API_NAME.test(name)), ...further];
  if (fitting.length === 0 || (await declare(store, fitting, report))) return refused;
  // One of them is at fault: the others are still declared.
  for (const field of fitting) if (!(await declare(store, [field], report))) refused.push(field);
  return refused;
}

/** The fields for which there is room, and one name for the other fields of a resource. */
function splitFittingFields(model: StoreModel, fields: readonly ForeignField[]) {
  const counts = new Map<string, number>();
  const further = new Map<string, ForeignField>();
  const fitting = fields.filter((field) => {
    const known = model.resource(field.resource).fields;
    const count = counts.get(field.resource) ?? known.size;
    const isKnown = known.has(field.name);
    const fits = isKnown || count < MOST_FIELDS;
    if (fits) counts.set(field.resource, isKnown ? count : count + 1);
    else further.set(field.resource, { ...field, name: FURTHER });
    return fits;
  });
  return { fitting, further: [...further.values()] };
}

/** @returns false if one of the fields cannot be declared; then none is */
async function declare(store: Store, fields: readonly ForeignField[], report: Listener): Promise<boolean> {
  const fresh: ForeignField[] = [];
  try {
    await store.configure((settings) => {
      fresh.length = 0;
      const { declarations } = settings;
      const known = new Map((declarations.customFields ?? []).map((each) => [fieldName(each), each]));
      for (const field of fields) {
        const before = known.get(fieldName(field));
        if (before === undefined) fresh.push(field);
        known.set(fieldName(field), before === undefined ? field : renamed(before, field));
      }
      return { ...settings, declarations: { ...declarations, customFields: [...known.values()] } };
    });
  } catch (error) {
    if (error instanceof PlatError && error.code === 'usage') return false;
    throw error;
  }
  for (const { resource, name } of fresh) report({ kind: 'field', resource, name, taken: 'declared' });
  return true;
}

/** A guess does not determine the name. */
function renamed(before: CustomFieldDeclaration, { group, label }: ForeignField): CustomFieldDeclaration {
  return group === GROUP ? before : { ...before, group, label };
}
