/** What the steps need to update a copy from its source. */
import type { Store } from '../../store/store.ts';
import type { Checkpoint } from '../checkpoint/checkpoint.ts';
import type { Environment } from '../environment.ts';
import type { Listener } from '../events.ts';
import type { Egress } from '../http/egress-policy.ts';
import type { MediaFolder } from '../media/media-folder.ts';
import type { Source } from '../source/source.ts';
import type { PageSize } from './page-size.ts';

/** The treatment of fields that the dictionary does not have. */
export type DriftPolicy =
  /** The fields become custom fields of the replica. */
  | 'evolve'
  /** A record with such a field is quarantined. */
  | 'freeze'
  /** The fields are omitted and reported. */
  | 'discard';

/** The settings of a copy, the same for all of its steps. */
export interface CopySettings {
  readonly drift: DriftPolicy;
  /** Fields with windows of their own, for a source in which a changed photo moves only its own timestamp. */
  readonly alsoWindow: readonly string[];
  /** The largest share of the stored records that one purge deletes, from 0 to 1. */
  readonly purgeShare: number;
  /** Whether a purge may exceed the share. */
  readonly force: boolean;
}

export interface Copy {
  /** Name of the source in the store. */
  readonly name: string;
  readonly feed: Source;
  readonly store: Store;
  readonly checkpoint: Checkpoint;
  readonly environment: Environment;
  readonly settings: CopySettings;
  readonly report: Listener;
  readonly signal: AbortSignal;
  /** Where media files are stored; absent: records only. */
  readonly files?: MediaFolder;
  /** The hosts from which these files may be downloaded; absent: only those of the public internet. */
  readonly filesEgress?: Egress;
  /** The page size of a collection. Each collection has its own, since the records of some are much larger than those of others. */
  readonly sizeOf: (collection: string) => PageSize;
}
