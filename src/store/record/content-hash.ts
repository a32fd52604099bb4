import { hash } from 'node:crypto';
import type { FieldValues, Resource } from '../../dictionary/index.ts';
import type { Owner } from '../settings.ts';
import { isStamp } from './stamps.ts';

/** Fields that follow from the parent, whether the input gave them or not. */
const DERIVED = new Set(['OriginatingSystemResourceRecordKey', 'OriginatingSystemResourceRecordSystemID']);

/**
 * Tells two contents apart: 128 bits over the values that are not null, in the order of their names. In an
 * authority stamps are no part of it; in a replica they are, since there they are what the source sent.
 */
export function contentHash(resource: Resource, values: FieldValues, owner: Owner): string {
  const parts: string[] = [];
  for (const name of Object.keys(values).sort()) {
    if (DERIVED.has(name)) continue;
    const field = resource.fields.get(name);
    if (owner === 'authority' && field !== undefined && isStamp(field)) continue;
    parts.push(name, JSON.stringify(values[name]));
  }
  return hash('sha256', parts.join('\n'), 'base64url').slice(0, 22);
}
