/**
 * A server to compare plat with: the shortest one that a developer would write over the same rows. Every field is a column, the
 * driver returns rows as objects, and `JSON.stringify` creates the response. It has no keys, roles, limits or metadata. Its
 * argument is the address of a database that `plain-market.ts` has written: a file, or `postgres://…`.
 */
import { createServer } from 'node:http';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { Pool } from 'pg';

type Value = string | number;
type Row = Readonly<Record<string, unknown>>;
/** Runs a statement whose parameters are `$1`, `$2`, … */
type Ask = (text: string, values: readonly Value[]) => readonly Row[] | Promise<readonly Row[]>;

const [, , address = ''] = process.argv;
const ask = address.startsWith('postgres:') ? onServer(address) : onFile(address);

function onFile(path: string): Ask {
  const database = new DatabaseSync(path, { readOnly: true });
  const statements = new Map<string, StatementSync>();
  return (text, values) => {
    const statement = statements.get(text) ?? database.prepare(text.replaceAll('$', '?'));
    statements.set(text, statement);
    return statement.all(...values);
  };
}

function onServer(connectionString: string): Ask {
  const pool = new Pool({ connectionString, max: 8 });
  const names = new Map<string, string>();
  return async (text, values) => {
    const name = names.get(text) ?? `s${names.size}`;
    names.set(text, name);
    const { rows } = await pool.query<Row>({ name, text, values: [...values] });
    return rows;
  };
}

const LISTINGS = 'SELECT * FROM "Property" WHERE';
const BY_KEY = 'ORDER BY "ListingKey" LIMIT';
const LISTING = `${LISTINGS} "ListingKey" = $1`;
const PAGE = `${LISTINGS} "ListingKey" > $1 ${BY_KEY} 1000`;
const KEYS = `SELECT "ListingKey" FROM "Property" WHERE "ListingKey" > $1 ${BY_KEY} 1000`;
const WINDOW = `${LISTINGS} "ModificationTimestamp" >= $1 AND "ModificationTimestamp" < $2 ${BY_KEY} 1000`;
const FILTER = `${LISTINGS} "City" = $1 AND "ListPrice" > $2 AND "ListPrice" < $3 AND "BedroomsTotal" >= 3
  ORDER BY "ListPrice" DESC, "ListingKey" LIMIT 20`;
const SCAN = `${LISTINGS} "LivingArea" > $1 AND "WalkScore" = $2 AND "YearBuilt" = $3 ${BY_KEY} 20`;
const SOME = `${LISTINGS} "ListingKey" > $1 ${BY_KEY} 200`;
const MEDIA = 'SELECT * FROM "Media" WHERE "ResourceRecordKey" >= $1 AND "ResourceRecordKey" <= $2';

async function answer(path: string, values: readonly Value[]): Promise<unknown> {
  switch (path) {
    case '/key':
      return (await ask(LISTING, values))[0];
    case '/page':
      return { value: await ask(PAGE, values) };
    case '/keys':
      return { value: await ask(KEYS, values) };
    case '/window':
      return { value: await ask(WINDOW, values) };
    case '/filter':
      return { value: await ask(FILTER, values) };
    case '/scan':
      return { value: await ask(SCAN, values) };
    case '/count':
      return { value: await ask('SELECT count(*) AS n FROM "Property"', values) };
    case '/expand': {
      const listings = await ask(SOME, values);
      const keyOf = (row: Row | undefined): string => String(row?.ListingKey);
      const media = await ask(MEDIA, [keyOf(listings[0]), keyOf(listings.at(-1))]);
      const byListing = Map.groupBy(media, ({ ResourceRecordKey }) => ResourceRecordKey);
      return { value: listings.map((row) => ({ ...row, Media: byListing.get(row.ListingKey) ?? [] })) };
    }
    default:
      return undefined;
  }
}

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const values = [...searchParams].map(([name, text]) => (name === 'n' ? Number(text) : text));
  const found = await answer(pathname, values);
  const body = JSON.stringify(found ?? null);
  response.writeHead(found === undefined ? 404 : 200, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => {
  const bound = server.address();
  if (typeof bound === 'object') console.log(`http://127.0.0.1:${bound?.port}/`);
});
process.on('SIGTERM', () => process.exit(0));
