import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { CUSTOM_FIELDS, CUSTOM_LOOKUPS, type ImportRecord, marketRecords } from 'plat-demo';
import { childrenOf } from '../../packages/demo/src/records.ts';

export const SEED = 20260601;
/** The collections in a listing of the market. */
export const CHILDREN = ['Media', 'Rooms', 'UnitTypes', 'OpenHouses'] as const;

/** A file of records for `plat import`. */
export interface MarketFile {
  readonly path: string;
  readonly resource: string;
  readonly records: number;
  /** The number of children in the records. */
  readonly children: number;
  readonly bytes: number;
}

interface Open extends MarketFile {
  readonly descriptor: number;
  records: number;
  children: number;
  bytes: number;
}

/** The number of media of a listing in the comparison with other servers. */
const FEW = 4;

/** A listing in the form that other servers can store as well: four media whose files are elsewhere, and no other children. */
export function withFewMedia(record: ImportRecord): ImportRecord {
  const fields = { ...record };
  for (const collection of CHILDREN) delete fields[collection];
  const media = childrenOf(record, 'Media').slice(0, FEW);
  return {
    ...fields,
    Media: media.map((medium) => ({ ...medium, MediaURL: `https://media.example/${medium.MediaURL}` })),
  };
}

/**
 * Writes a market as JSON lines.
 *
 * @param lately how many listings are written to a separate file, the last one
 * @param shape transforms each listing
 * @returns the files in the order in which they are imported
 */
export function writeMarket(
  folder: string,
  listings: number,
  lately: number,
  shape = (record: ImportRecord): ImportRecord => record,
): MarketFile[] {
  const files = new Map<string, Open>();
  let done = 0;
  for (const { resource, record: drawn } of marketRecords({ seed: SEED, listings })) {
    const record = resource === 'Property' ? shape(drawn) : drawn;
    const isLate = resource === 'Property' && done++ >= listings - lately;
    const name = isLate ? `${resource}-late` : resource;
    const path = join(folder, `${name}.ndjson`);
    const file = files.get(name) ?? {
      ...{ path, resource, records: 0, children: 0, bytes: 0 },
      descriptor: openSync(path, 'w'),
    };
    files.set(name, file);
    file.records++;
    for (const collection of CHILDREN) file.children += childrenOf(record, collection).length;
    file.bytes += writeSync(file.descriptor, `${JSON.stringify(record)}\n`);
  }
  for (const { descriptor } of files.values()) closeSync(descriptor);
  return [...files.values()];
}

/** A configuration for the market, with limits that no measurement reaches. */
export function marketConfig(): object {
  const limit = { requests: 1_000_000_000, seconds: 300 };
  return {
    dictionary: { customFields: CUSTOM_FIELDS, lookups: CUSTOM_LOOKUPS },
    limits: { api: limit, replication: limit },
  };
}
