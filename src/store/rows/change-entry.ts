/**
 * The entries of the sequence of changes (change-log.ts writes them, changes/ reads them).
 */

/**
 * What a transaction did to a record. `left`: it took it out of its originating system, which deletes it for readers who are
 * restricted to systems, and only for them. `all`: it may have changed any record, in ways that are not known by key.
 */
export type ChangeKind = 'created' | 'changed' | 'deleted' | 'left' | 'all' | 'commit';

/** The name of the sequence in `plat_sequence`, in the column for names of resources. */
export const SEQUENCE = 'changes';

/** As a key: all records of the resource; as a resource: all resources. */
export const EVERYTHING = '';
/** As a resource: the key is the id of the commit, which is unique. */
export const COMMIT = '.';
