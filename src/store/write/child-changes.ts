import type { StoredRow } from '../../records/rows.ts';
import type { ChildChange } from '../../records/stamps.ts';

/** What a change of a child means to its listing (I3). */
export function childChange(resource: string, kind: StoredRow['kind']): ChildChange {
  if (resource === 'OpenHouse') return 'open-house';
  return resource === 'Media' ? (kind ?? 'photo') : 'part';
}
