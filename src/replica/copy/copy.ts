/** What the steps need to bring a source and its copy together. */
import type { Store } from '../../store/store.ts';
import type { Checkpoint } from '../checkpoint/checkpoint.ts';
import type { Environment } from '../environment.ts';
import type { Listener } from '../events.ts';
import type { Egress } from '../http/egress-policy.ts';
import type { MediaFolder } from '../media/folder.ts';
import type { Source } from '../source/source.ts';
import type { PageSize } from './page-size.ts';

/** What is done with fields that the dictionary does not have. */
export type DriftPolicy =
  /** They become custom fields of the replica. */
  | 'evolve'
  /** A record that has one is quarantined. */
  | 'freeze'
  /** They are left out and reported. */
  | 'discard';

/** How a copy is made; the same for all of its steps. */
export interface CopySettings {
  readonly drift: DriftPolicy;
  /** Fields that have windows of their own beside the source's, where a photo moves nothing else. */
  readonly alsoWindow: readonly string[];
  /** The largest share of the stored records that one purge deletes, from 0 to 1. */
  readonly purgeShare: number;
  /** Deletes however large the share is. */
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
  /** Where the files of media are kept; absent: records only. */
  readonly files?: MediaFolder;
  /** Where these files may be; absent: on the public internet. */
  readonly filesEgress?: Egress;
  /** Each collection's, since the weight of their pages differs. */
  readonly sizeOf: (collection: string) => PageSize;
}
