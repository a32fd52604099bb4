import type { ServerSession } from '../../connection/session.ts';
import type { StoredLayout } from '../layout-version.ts';

/**
 * A step from one layout to the next. It runs once, under the write lock, in a transaction of its own, beside running
 * processes of the version before: those go on as far as it says that they may, and are refused from their next
 * request or write on where it says that they may not.
 *
 * What a step that is not for older readers changes gets a new name: a reading that has begun then meets a table or a
 * column that is gone, and is told so, and never rows that were rewritten under its snapshot.
 */
export interface Migration extends StoredLayout {
  /** Written once and never changed: statements as they were when the layout was new, not the tables of today. */
  readonly run: (session: ServerSession) => Promise<void>;
}
