import { CUSTOM_FIELDS, CUSTOM_LOOKUPS } from '../../packages/demo/src/custom-fields.ts';
import type { ImportRecord } from '../../packages/demo/src/records.ts';
import {
  type Dictionary,
  declare,
  type Field,
  type FieldValue,
  type Resource,
  standardDictionary,
} from '../../src/dictionary/index.ts';

/** The dictionary of the demo market. */
export const dictionary: Dictionary = declare(standardDictionary(), {
  customFields: CUSTOM_FIELDS,
  lookups: CUSTOM_LOOKUPS,
});

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/;

function checkScalar(field: Field, value: unknown): string | undefined {
  const { type } = field;
  switch (type.kind) {
    case 'string': {
      if (typeof value !== 'string' || value === '') return 'is no text';
      if (type.maxLength !== undefined && value.length > type.maxLength)
        return `is longer than ${type.maxLength}`;
      const lookup = field.lookup === undefined ? undefined : dictionary.lookups.get(field.lookup);
      if (lookup !== undefined && lookup.values.size > 0 && !lookup.values.has(value))
        return `is not in ${lookup.name}`;
      return undefined;
    }
    case 'integer':
      if (typeof value !== 'number' || !Number.isSafeInteger(value)) return 'is no integer';
      return type.digits !== undefined && Math.abs(value) >= 10 ** type.digits
        ? `has more than ${type.digits} digits`
        : undefined;
    case 'decimal': {
      if (typeof value !== 'number' || !Number.isFinite(value)) return 'is not a number';
      const [whole = '', places = ''] = Math.abs(value).toString().split('.');
      if (places.length > type.scale) return `has more than ${type.scale} decimals`;
      return whole.length > type.precision - type.scale
        ? `has more than ${type.precision} digits`
        : undefined;
    }
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'is no boolean';
    case 'date':
      return typeof value === 'string' && DATE.test(value) && !Number.isNaN(Date.parse(value))
        ? undefined
        : 'is no date';
    case 'timestamp':
      return typeof value === 'string' && TIMESTAMP.test(value) && !Number.isNaN(Date.parse(value))
        ? undefined
        : 'is no timestamp';
  }
}

function checkValue(field: Field, value: FieldValue | readonly unknown[]): string | undefined {
  if (field.joined !== undefined) return `is read from ${field.joined.resource} and must not be given`;
  if (field.name === 'ModificationTimestamp' || field.name.endsWith('ChangeTimestamp'))
    return 'is set by the store';
  if (!field.collection) return checkScalar(field, value);
  if (!Array.isArray(value) || value.length === 0) return 'is no filled list';
  if (new Set(value).size < value.length) return 'names a value twice';
  return value.map((entry) => checkScalar(field, entry)).find((wrong) => wrong !== undefined);
}

function isRecord(value: unknown): value is ImportRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Everything in a record and its children that the dictionary does not allow; empty for a valid record. */
export function faultsOf(resourceName: string, record: ImportRecord): string[] {
  const resource: Resource | undefined = dictionary.resources.get(resourceName);
  if (resource === undefined) return [`there is no resource ${resourceName}`];
  const faults: string[] = [];
  if (typeof record[resource.key] !== 'string') faults.push(`${resourceName} has no ${resource.key}`);
  for (const [name, value] of Object.entries(record)) {
    const field = resource.fields.get(name);
    const navigation = resource.navigations.get(name);
    if (field !== undefined) {
      const wrong = checkValue(field, value);
      if (wrong !== undefined) faults.push(`${resourceName}.${name} ${JSON.stringify(value)} ${wrong}`);
    } else if (navigation?.collection && Array.isArray(value)) {
      for (const child of value) {
        faults.push(
          ...(isRecord(child) ? faultsOf(navigation.target, child) : [`${name} holds ${typeof child}`]),
        );
      }
    } else {
      faults.push(`${resourceName} has no field ${name}`);
    }
  }
  return faults;
}
