/** Declares the fields that a source has and the dictionary lacks, as far as there is room for them and their names are valid. */
import type { StoreModel } from '../../compile/model.ts';
import { type CustomFieldDeclaration, REPLICA_TIMESTAMP } from '../../dictionary/index.ts';
import { PlatError } from '../../errors/index.ts';
import type { DroppedField, ParsedRecord } from '../../records/parsed-record.ts';
import { isUnsafeInteger, losesOnlyFraction } from '../../records/value.ts';
import { LongNumber } from '../../shared/json.ts';
import type { Store } from '../../store/store.ts';
import type { Listener } from '../events.ts';
import type { ForeignField } from '../source/source.ts';

/** The group of fields that a source has but does not declare. */
const GROUP = 'Source';
const API_NAME = /^[A-Za-z][A-Za-z0-9_]{0,127}$/;

/** The maximum number of fields of a resource. Tables have at most 1600 columns in PostgreSQL, and 2000 in SQLite. */
export const MOST_FIELDS = 1500;
/** Stands for all further fields of a resource when there is no room for them. */
const FURTHER = '*';

/** A field that a record has and the dictionary lacks. */
export type UnknownField = Omit<DroppedField, 'why'>;

export const fieldName = ({ resource, name }: { readonly resource: string; readonly name: string }): string =>
  `${resource}.${name}`;

/** The fields with a value in a record or its collections that the dictionary lacks. */
export const unknownFields = ({ dropped }: ParsedRecord): readonly UnknownField[] =>
  dropped.filter(({ name, why, value }) => why === 'unknown' && value !== null && name !== REPLICA_TIMESTAMP);

/** Removes the fields that the copy omits. @param ignored the names of the fields that it omits */
export const notIgnored = (fields: readonly UnknownField[], ignored: ReadonlySet<string>): UnknownField[] =>
  fields.filter(
    (field) => !ignored.has(fieldName(field)) && !ignored.has(fieldName({ ...field, name: FURTHER })),
  );

/** Why a record with unknown fields is quarantined. */
export const lacks = (fields: readonly UnknownField[]): string =>
  `The dictionary has no ${[...new Set(fields.map(fieldName))].join(', ')}`;

/** A declaration for an unknown field, derived from one of its values. */
export function guessField({ resource, name, value }: UnknownField): ForeignField {
  return { resource, name, type: guessType(value), group: GROUP, label: name };
}

/** Combines two values of the same unknown field. If their types differ, the field becomes a text. */
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
      // A number with more digits than a double can hold is an identifier, such as a key, unless only its fraction has too many
      // digits.
      if (value instanceof LongNumber) return losesOnlyFraction(Number(value.text)) ? DECIMAL : 'string';
      return Array.isArray(value) && value.every((each) => typeof each === 'string') ? 'string[]' : 'string';
  }
}

/**
 * Declares the source's own fields as custom fields of the replica. A field that the replica already has keeps its type; its group
 * and label follow the source, whose LocalName is the current name (specification 2.4, rule 2).
 * @returns the fields that cannot be declared because their name is not a valid API name or stored values contradict their type;
 * the name `*` stands for all fields for which the table has no room
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
  // Some field cannot be declared. Declare the others one by one.
  for (const field of fitting) if (!(await declare(store, [field], report))) refused.push(field);
  return refused;
}

/** Separates the fields for which there is room from the others, which the name `*` stands for. */
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

/** Declares all of the fields, or none. @returns false if one of them cannot be declared */
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

/** A guessed group and label do not replace known ones. */
function renamed(before: CustomFieldDeclaration, { group, label }: ForeignField): CustomFieldDeclaration {
  return group === GROUP ? before : { ...before, group, label };
}
