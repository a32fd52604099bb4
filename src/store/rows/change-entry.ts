/** What an entry of the sequence of changes is (change-log.ts writes them, change-feed.ts and change-follower.ts read them). */

/** What a transaction did to a record. `all`: it may have changed any record, in ways that are not known by key. */
export type ChangeKind = 'created' | 'changed' | 'deleted' | 'all' | 'commit';

/** The name of the sequence in `plat_sequence`, where the name of no resource is. */
export const SEQUENCE = 'changes';

/** In place of a key: all records of the resource; in place of a resource: of all resources. */
export const EVERYTHING = '';
/** In place of a resource: the key is the name of the commit, which no other one has. */
export const COMMIT = '.';
