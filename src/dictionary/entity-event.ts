/**
 * The fields of EntityEvent (RESO RCP-27) that the store fills from an entry of the sequence of changes. The optional
 * ResourceRecordUrl is not among them.
 */
import type { Field, Resource } from './types.ts';

export const EVENT = {
  sequence: 'EntityEventSequence',
  resource: 'ResourceName',
  key: 'ResourceRecordKey',
} as const;

const FILLED: ReadonlySet<string> = new Set(Object.values(EVENT));

/** Whether the store fills a field of a resource that is filled from changes. */
export const isFilledByStore = ({ fromChanges }: Resource, { name }: Field): boolean =>
  fromChanges === true && FILLED.has(name);
