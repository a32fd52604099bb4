/** A record among those of every resource. */
export interface RecordName {
  readonly resource: string;
  readonly key: string;
}

/** The two as one string, for sets and maps. */
export const recordName = ({ resource, key }: RecordName): string => `${resource}\u0000${key}`;
