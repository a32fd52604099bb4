/** How a record names its parent, and which position in the input determines the parent. */
import type { FieldValue, Resource } from '../dictionary/index.ts';
import { isObject } from '../shared/json.ts';
import { isMediaOfListing, systemFieldsOfMedia } from './media.ts';
import { isAbsent } from './parsed-record.ts';
import type { RecordName } from './record-name.ts';
import type { Owner } from './settings.ts';

/** The record that contains a nested one. */
export interface EnclosingRecord {
  readonly resource: Resource;
  readonly key: string;
  readonly system: string | undefined;
}

/**
 * Sets the fields by which a record names its parent. An authority validates them. In a replica, the parent is the record in which
 * the source returns the child, and the originating system that the source names is kept.
 * @returns a reason for each contradiction to the parent
 */
export function placeUnderParent(
  resource: Resource,
  values: Record<string, FieldValue>,
  holder: EnclosingRecord | undefined,
  path: string,
  owner: Owner,
): string[] {
  const { parent } = resource;
  if (parent === undefined) return [];
  const derived: [string, string | undefined][] = [];
  if (parent.kind === 'fixed') {
    derived.push([parent.keyField, holder?.key]);
  } else {
    const named = textOf(values[parent.resourceField]) ?? 'Property';
    // Media of a listing may name the listing only in the specification's own fields.
    const key = textOf(values[parent.keyField]) ?? textOf(values.OriginatingSystemResourceRecordKey);
    derived.push([parent.resourceField, holder?.resource.name ?? named]);
    derived.push([parent.keyField, holder?.key ?? key]);
  }
  // Deleting members would make the object slow, and larger.
  if (owner === 'replica' && holder !== undefined)
    for (const [name, value] of derived) if (value !== undefined) values[name] = value;
  const reasons = setFromParent(values, derived, path);
  if (parent.kind === 'named' && isMediaOfListing(resource, values)) {
    const key = textOf(values[parent.keyField]);
    // A replica adds nothing to what the source sent; the system is set when the record is written under its parent.
    if (owner === 'replica') fillMissing(values, systemFieldsOfMedia(key, undefined));
    else reasons.push(...setFromParent(values, systemFieldsOfMedia(key, holder?.system), path));
  }
  return reasons;
}

/** A nested record as received, plus the fields that name its parent, so that it can be stored by itself. */
export function withParentFields({ parent }: Resource, origin: unknown, holder: RecordName): unknown {
  if (parent === undefined || !isObject(origin)) return origin;
  const named = parent.kind === 'named' ? { [parent.resourceField]: holder.resource } : {};
  const given = Object.entries(origin).filter(([, value]) => value !== null);
  return { ...named, [parent.keyField]: holder.key, ...Object.fromEntries(given) };
}

/** Replaces the parent that the fields of a nested record name. */
export function withOtherParent(resource: Resource, origin: unknown, holder: RecordName): unknown {
  const { parent } = resource;
  if (parent === undefined || !isObject(origin)) return origin;
  const named = parent.kind === 'named' ? { [parent.resourceField]: null } : {};
  return withParentFields(resource, { ...origin, ...named, [parent.keyField]: null }, holder);
}

/** Sets missing fields that follow from the parent. */
export function fillMissing(
  values: Record<string, FieldValue>,
  derived: readonly (readonly [string, string | undefined])[],
): void {
  for (const [name, value] of derived) {
    if (value !== undefined && isAbsent(values[name])) values[name] = value;
  }
}

/** Sets fields that follow from the parent. A different value in the record is a reason for rejection. */
export function setFromParent(
  values: Record<string, FieldValue>,
  derived: readonly (readonly [string, string | undefined])[],
  path: string,
): string[] {
  const reasons: string[] = [];
  for (const [name, value] of derived) {
    if (value === undefined) continue;
    if (isAbsent(values[name])) values[name] = value;
    else if (values[name] !== value) {
      const given = JSON.stringify(values[name]);
      reasons.push(`${path}${name} is ${given}, but its parent has ${JSON.stringify(value)}`);
    }
  }
  return reasons;
}

const textOf = (value: FieldValue | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;
