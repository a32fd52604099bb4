/** The context that the modules share which write the rows of one transaction. */

import type { StoreModel } from '../../compile/model.ts';
import type { WriteSession } from '../session.ts';
import type { ChangeLog } from './change-log.ts';
import type { Counters } from './counters.ts';

export interface WriteContext {
  readonly session: WriteSession;
  readonly model: StoreModel;
  readonly counters: Counters;
  readonly changes: ChangeLog;
  /** The source of the records; null in an authority. */
  readonly source: string | null;
}
