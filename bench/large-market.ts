/**
 * Writes the records of one resource of a large market to stdout as JSON lines. Each record is generated when it is needed, so that
 * a market of any size needs neither disk space nor memory: `node bench/large-market.ts Property --listings 1000000 | plat import -
 * …`. The listings belong to ten originating systems and have no media, rooms, units or open houses.
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { type ImportRecord, makeMarket } from 'plat-demo';
import { CHILDREN, SEED } from './support/market-files.ts';

/** The number of originating systems, which alternate; a partitioned store has a partition for each. */
const SYSTEMS = 10;
/** The number of records in a chunk. */
const CHUNK = 100;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { listings: { type: 'string', default: '1000000' } },
});
const market = makeMarket({ seed: SEED, listings: Number(values.listings) });

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, number) => number);

/** A listing without children. @param place its position in key order */
function listing(serial: number, place: number): ImportRecord {
  const fields = { ...market.listing(serial) };
  for (const collection of CHILDREN) delete fields[collection];
  const system = `MLS-${String(place % SYSTEMS).padStart(2, '0')}`;
  return { ...fields, OriginatingSystemID: system };
}

function* lines(resource: string | undefined): Generator<string> {
  switch (resource) {
    case 'Office':
      return yield* chunks(numbers(market.offices), market.office);
    case 'Member':
      return yield* chunks(numbers(market.members), market.member);
    case 'Property':
      return yield* chunks(market.serialsByKey(), listing);
    default:
      throw new Error('Name a resource: Office, Member or Property');
  }
}

function* chunks(
  serials: readonly number[],
  recordOf: (serial: number, place: number) => ImportRecord,
): Generator<string> {
  for (let start = 0; start < serials.length; start += CHUNK) {
    const some = serials.slice(start, start + CHUNK);
    yield some.map((serial, index) => `${JSON.stringify(recordOf(serial, start + index))}\n`).join('');
  }
}

await pipeline(Readable.from(lines(positionals[0])), process.stdout);
