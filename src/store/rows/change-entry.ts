/**
 * The entries of the sequence of changes (change-log.ts writes them, changes/ reads them).
 */

/**
 * What a transaction did to a record. `left`: the record left its originating system, so it is deleted for readers who are
 * restricted to systems, and only for them. `all`: any record may have changed, and the keys are unknown.
 */
export type ChangeKind = 'created' | 'changed' | 'deleted' | 'left' | 'all' | 'commit';

/** The name of the sequence in `plat_sequence`, in the column for names of resources. */
export const SEQUENCE = 'changes';

/** As a key: all records of the resource; as a resource: all resources. */
export const EVERYTHING = '';
/** As a resource: the key is the id of the commit, which is unique. */
export const COMMIT = '.';
