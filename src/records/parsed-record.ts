/** The outcome of validating a record, and the form of keys. */
import type { FieldValue, FieldValues, Resource } from '../dictionary/index.ts';
import type { Leniency } from './lenient.ts';
import type { ListedValues } from './rows.ts';

/** A record that may be stored: validated, in canonical form, without ignored members. */
export interface ParsedRecord {
  readonly resource: Resource;
  readonly key: string;
  /** Values by field name, without nulls and empty collections. */
  readonly values: FieldValues;
  /** The values as a list, if many records are read together: `values` then makes an object of them. */
  readonly listed?: ListedValues;
  /** Collections in the input by navigation name, including empty ones. They replace the stored collections. */
  readonly children: ReadonlyMap<string, readonly ParsedRecord[]>;
  /** Whether only its collections are stored and the record itself does not change. */
  readonly onlyChildren?: boolean;
  /** Fields that were dropped on purpose, for statistics. */
  readonly dropped: readonly DroppedField[];
  /** Values that were accepted in another form than the dictionary's. */
  readonly lenient: readonly LenientField[];
  /** In a replica: children that cannot be stored, although the rest of the record can. */
  readonly refused: readonly RefusedMember[];
  /** The record as received, in a replica. */
  readonly origin: unknown;
  /** What the thread that read the record has already prepared for its write. */
  readonly prepared?: Prepared;
}

/**
 * A record whose values are a list. Few records are ever needed as an object of values, so it is made only on demand. A spread loses
 * `values`; `withMembers` does not.
 */
export class ListedRecord implements ParsedRecord {
  readonly resource: Resource;
  readonly key: string;
  readonly listed: ListedValues;
  readonly children: ParsedRecord['children'];
  readonly onlyChildren: boolean;
  readonly dropped: readonly DroppedField[];
  readonly lenient: readonly LenientField[];
  readonly refused: readonly RefusedMember[];
  readonly origin: unknown;
  readonly prepared?: Prepared;
  #values: FieldValues | undefined;

  constructor({
    onlyChildren = false,
    prepared,
    ...record
  }: Omit<ParsedRecord, 'values'> & { readonly listed: ListedValues }) {
    this.resource = record.resource;
    this.key = record.key;
    this.listed = record.listed;
    this.children = record.children;
    this.onlyChildren = onlyChildren;
    this.dropped = record.dropped;
    this.lenient = record.lenient;
    this.refused = record.refused;
    this.origin = record.origin;
    if (prepared !== undefined) this.prepared = prepared;
  }

  get values(): FieldValues {
    this.#values ??= this.listed.toObject();
    return this.#values;
  }
}

/** The same record with other members. */
export const withMembers = (
  record: ParsedRecord,
  members: Partial<Pick<ParsedRecord, 'children' | 'onlyChildren'>>,
): ParsedRecord =>
  record instanceof ListedRecord ? new ListedRecord({ ...record, ...members }) : { ...record, ...members };

export interface Prepared {
  /** The hash of its content. */
  readonly hash: string;
  /** The generation of a model in which all of its fields, and of its children's, are in use. */
  readonly generation: number;
  /** The texts that contain nothing that the store sets, as that model writes them; absent for a child. */
  readonly fixedTexts?: () => readonly string[];
}

/** Reads one value of a record, without making an object of all values. */
export const readValue = (
  record: Pick<ParsedRecord, 'values' | 'listed'>,
  name: string,
): FieldValue | undefined => (record.listed === undefined ? record.values[name] : record.listed.get(name));

/** A child that cannot be stored, in the form in which it was received. */
export interface RefusedMember {
  readonly resource: string;
  readonly key: string | undefined;
  readonly reasons: readonly string[];
  /** Includes the fields that name its parent, if it is a JSON object. */
  readonly origin: unknown;
}

export interface DroppedField {
  readonly resource: string;
  readonly name: string;
  readonly value: unknown;
  readonly why: 'stamp' | 'count' | 'joined' | 'expansion' | 'unknown';
}

export interface LenientField {
  readonly resource: string;
  readonly name: string;
  readonly why: Leniency;
}

/** A record that cannot be stored. Each reason names the field, with its path if it is a field of a child. */
export interface InvalidRecord {
  readonly key: string | undefined;
  readonly reasons: readonly string[];
  /** Whether one of the reasons is an unknown field. */
  readonly lacksField: boolean;
}

/** Whether a value counts as absent when contents are compared, as null and empty lists do. */
export function isAbsent(value: FieldValue | undefined): boolean {
  return value === undefined || value === null || (typeof value === 'object' && value.length === 0);
}

/** The maximum length of a key in characters. */
export const KEY_LIMIT = 255;

const CONTROL = /\p{Cc}/u;

/** Whether a text can be the key of a stored record. */
export const isStorableKey = (key: string): boolean => key.length <= KEY_LIMIT && !CONTROL.test(key);

const INTEGER_KEY_DIGITS = 19;

/** A key as it is stored and sorted: the whole-number key of an EntityEvent is padded, so that its order is numeric. */
export function keyText(resource: Resource, value: FieldValue | undefined): string | undefined {
  if (typeof value === 'string' && value !== '') return value;
  const isNumber = resource.fields.get(resource.key)?.type.kind === 'integer';
  if (isNumber && typeof value === 'number') return String(value).padStart(INTEGER_KEY_DIGITS, '0');
  return undefined;
}
