/**
 * The rows that a write path handles: as they are stored, as they are to be written, and what remains of a deleted one.
 * It knows neither SQL nor engines.
 */
import type { FieldValues, MediaKind } from '../dictionary/index.ts';

/** What a write needs to know of a stored record. */
export interface StoredRow {
  readonly key: string;
  readonly id: number;
  readonly parent: string | null;
  readonly parentResource: string | null;
  readonly system: string | null;
  readonly kind: MediaKind | null;
  readonly hash: string;
  /** The source that it was replicated from; null in an authority. */
  readonly source: string | null;
  /** Bits of the roles that see it. */
  readonly visible: number;
  /** Keys, stamps and the fields whose change has a stamp. */
  readonly values: FieldValues;
  /** Whether its texts, which lie in a table of their own, are missing, or under another key or number than its columns. */
  readonly isTorn?: boolean;
}

/** A record as it is to be stored. */
export interface RowToPut {
  readonly key: string;
  /** The stored record that it replaces. */
  readonly stored: StoredRow | undefined;
  readonly parent: string | null;
  readonly parentResource: string | null;
  readonly system: string | null;
  readonly kind: MediaKind | null;
  readonly hash: string;
  /** The whole content, stamps included. */
  readonly values: FieldValues;
  /** Bits of the roles that may know of it at all; only for what the store itself publishes. */
  readonly audience?: number;
}

/** New stamps of a record whose content stays. */
export interface RowToRestamp {
  readonly stored: StoredRow;
  /** Keys and stamps as they are now, as in `StoredRow.values`. */
  readonly values: FieldValues;
}

/** What is left of a deleted record. */
export interface Tombstone {
  readonly resource: string;
  readonly key: string;
  /** Canonical. */
  readonly deletedAt: string;
}
