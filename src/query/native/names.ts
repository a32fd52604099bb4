/** The names of the native language and their meanings, so that binders need not know any particular resource. */
import {
  FIRST_LINE,
  type Field,
  type Lookup,
  NATIVE_ALIASES,
  type Navigation,
} from '../../dictionary/index.ts';
import type { FieldLookup, ResourceSchema, Schema } from '../schema.ts';
import type { Expression, FieldReference, FunctionCall, Literal, Location } from '../tree.ts';

export type NativeName =
  /**
   * A field of the record itself, or of a record that to-one navigations lead to; the response uses the name that the request used.
   */
  | {
      readonly kind: 'field';
      readonly field: Field;
      readonly via: readonly Navigation[];
      readonly givenAs?: string;
    }
  /** A text that is computed from fields. */
  | { readonly kind: 'computed'; readonly expression: Expression }
  /** A text that is the same for every record of the collection. */
  | { readonly kind: 'constant'; readonly text: string }
  /** A part of the response that consists of several fields: it can only be selected. */
  | { readonly kind: 'composite'; readonly fields: readonly Field[] }
  /** The point that shapes are compared with. */
  | { readonly kind: 'location'; readonly location: Location }
  /** A field that the key may not see: a selection masks it; anywhere else it is unknown. */
  | { readonly kind: 'hidden'; readonly field: Field; readonly givenAs?: string }
  | { readonly kind: 'unknown' };

/** The names of one collection as one key sees them. */
export interface NativeNames {
  /** The name of the collection in messages: `listings`. */
  readonly collection: string;
  find(name: string): NativeName;
  findCustom(group: string, label: string): NativeName;
  lookup(name: string): Lookup | undefined;
  /** Names that may be suggested. */
  names(): Iterable<string>;
  /** Custom fields that may be suggested, as `"Group"."Field"`. */
  customNames(): Iterable<string>;
  /** Names of the RESO interface for fields that may be suggested, each with its name in the native interface. */
  counterparts(): Iterable<readonly [reso: string, name: string]>;
  /** Members that every record has in addition to its fields, whatever is selected. */
  readonly always?: readonly string[];
}

const UNKNOWN: NativeName = { kind: 'unknown' };

/** The notation of a custom field. */
export const customName = (group: string, label: string): string => `"${group}"."${label}"`;

const ALWAYS = ['Id', 'ResourceUri', 'LastCachedTimestamp', 'DisplayCompliance'] as const;

/**
 * The names of a dictionary resource. Some names differ from those of the dictionary: `Id` is the key, as in responses; `Location`
 * stands for Latitude and Longitude, if the key sees both; and clients of the native interface have their own names for some fields
 * of a listing.
 */
export function resourceNames(
  collection: string,
  schema: ResourceSchema,
  { lookup }: Pick<Schema, 'lookup'>,
): NativeNames {
  const { resource } = schema;
  const named = (found: ReturnType<ResourceSchema['findNativeField']>): NativeName =>
    found.kind === 'visible' ? { kind: 'field', field: found.field, via: [] } : found;
  const location = (): NativeName => {
    const [latitude, longitude] = [schema.findNativeField('Latitude'), schema.findNativeField('Longitude')];
    if (latitude.kind !== 'visible' || longitude.kind !== 'visible') return UNKNOWN;
    const point = { scope: 0, via: [], latitude: latitude.field, longitude: longitude.field };
    return { kind: 'location', location: { kind: 'location', ...point } };
  };
  const alias = (name: string, found: FieldLookup): NativeName => {
    const other = named(found);
    return other.kind === 'field' || other.kind === 'hidden' ? { ...other, givenAs: name } : other;
  };
  return {
    collection,
    find(name) {
      const own = named(schema.findNativeField(name));
      if (own.kind !== 'unknown') return own;
      if (name === 'Id') return named(schema.findField(resource.key));
      if (name === 'Location') return location();
      if (resource.name !== 'Property') return UNKNOWN;
      if (name === FIRST_LINE.name) return firstLine(alias(name, schema.findField(FIRST_LINE.of)));
      const field = NATIVE_ALIASES.get(name);
      return field === undefined ? UNKNOWN : alias(name, schema.findField(field));
    },
    findCustom: (group, label) => named(schema.findCustomField(group, label)),
    lookup,
    *names() {
      yield* schema.nativeNames();
      if (location().kind === 'location') yield 'Location';
    },
    *customNames() {
      for (const { custom } of resource.fields.values()) {
        if (custom === undefined) continue;
        const { group, label } = custom;
        if (schema.findCustomField(group, label).kind === 'visible') yield customName(group, label);
      }
    },
    *counterparts() {
      for (const field of resource.fields.values()) {
        const { name, nativeName, custom } = field;
        if (custom === undefined && name === nativeName) continue;
        if (schema.findField(name).kind !== 'visible') continue;
        yield [name, custom === undefined ? nativeName : customName(custom.group, custom.label)];
      }
    },
    ...(resource.name === 'Property' ? { always: ALWAYS } : {}),
  };
}

const COMMA: Literal = { kind: 'literal', type: 'string', value: ',' };
const START: Literal = { kind: 'literal', type: 'integer', value: 0 };

/** The text of a field before its first comma, or the whole text if there is none. */
function firstLine(of: NativeName): NativeName {
  if (of.kind !== 'field') return of;
  const whole: FieldReference = { kind: 'field', type: 'string', scope: 0, via: of.via, field: of.field };
  const ended = call('string', 'concat', [whole, COMMA]);
  const before = call('string', 'substring', [whole, START, call('integer', 'indexof', [ended, COMMA])]);
  return { kind: 'computed', expression: before };
}

const call = (
  type: FunctionCall['type'],
  name: FunctionCall['function'],
  of: readonly Expression[],
): FunctionCall => ({ kind: 'call', type, function: name, arguments: of });
