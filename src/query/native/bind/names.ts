/** What a name of the native language stands for, so that binding needs to know no particular resource. */
import type { Field, Lookup, Navigation } from '../../../dictionary/index.ts';
import type { ResourceSchema, Schema } from '../../schema.ts';
import type { Location } from '../../tree.ts';

export type NativeName =
  /** A field of the record itself, or of one that to-one navigations lead to. */
  | { readonly kind: 'field'; readonly field: Field; readonly via: readonly Navigation[] }
  /** A text that is the same for every record of the collection. */
  | { readonly kind: 'constant'; readonly text: string }
  /** A part of the response that is made of several fields: it can be selected, nothing else. */
  | { readonly kind: 'composite'; readonly fields: readonly Field[] }
  /** The point that shapes are compared with. */
  | { readonly kind: 'location'; readonly location: Location }
  /** Known, but not to this key: masked in a selection, unknown everywhere else. */
  | { readonly kind: 'hidden'; readonly field: Field }
  | { readonly kind: 'unknown' };

/** The names of one collection as one key sees them. */
export interface NativeNames {
  /** As messages call the collection: `listings`. */
  readonly collection: string;
  find(name: string): NativeName;
  findCustom(group: string, label: string): NativeName;
  lookup(name: string): Lookup | undefined;
  /** Names that may be told in a suggestion. */
  names(): Iterable<string>;
  /** Custom fields that may be told, as `"Group"."Field"`. */
  customNames(): Iterable<string>;
  /** Names of the RESO interface, each with what it is called here; those that may be told. */
  counterparts(): Iterable<readonly [reso: string, name: string]>;
}

const UNKNOWN: NativeName = { kind: 'unknown' };

/** How a custom field is written. */
export const customName = (group: string, label: string): string => `"${group}"."${label}"`;

/**
 * The names of a dictionary resource. Two stand for fields of other names: `Id` for the key, which is what
 * responses call it, and `Location` for Latitude and Longitude, where the key may see both.
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
  return {
    collection,
    find(name) {
      const own = named(schema.findNativeField(name));
      if (own.kind !== 'unknown') return own;
      if (name === 'Id') return named(schema.findField(resource.key));
      return name === 'Location' ? location() : UNKNOWN;
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
  };
}
