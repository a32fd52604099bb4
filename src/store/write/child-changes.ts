import type { ChildChange } from '../record/stamps.ts';
import type { StoredRow } from './transaction.ts';

/** What a change of a child means to its listing (I3). */
export function childChange(resource: string, kind: StoredRow['kind']): ChildChange {
  if (resource === 'OpenHouse') return 'open-house';
  return resource === 'Media' ? (kind ?? 'photo') : 'part';
}
