/** Rows that are taken off the wire: complete and in order, wherever the network splits what the server sends. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Client, Pool, type PoolClient, Query } from 'pg';
import { receiveRows, runPrepared, watchRows } from '../../../src/engines/postgres/connection/row-bytes.ts';
import { DEFAULT_SETTINGS } from '../../../src/records/settings.ts';
import { emptyDatabase } from '../../support/postgres-engine.ts';

const { address, drop } = await emptyDatabase(DEFAULT_SETTINGS);
const pool = new Pool({ connectionString: address, pipeline: true, max: 1 });
const client = await pool.connect();
after(async () => {
  const closed = new Promise<void>((resolve) => client.once('end', () => resolve()));
  client.release(true);
  await closed;
  await pool.end();
  await drop();
});

watchRows(client);
const { stream } = client.connection;
const [hear] = stream.listeners('data');
assert.ok(hear !== undefined);
stream.removeAllListeners('data');
let size = Number.POSITIVE_INFINITY;
stream.on('data', (chunk: Buffer) => {
  for (let at = 0; at < chunk.length; at += Math.min(size, chunk.length)) {
    const part = Buffer.from(chunk.subarray(at, at + size));
    Reflect.apply(hear, stream, [part]);
    // The memory of a chunk is reused as soon as it was processed.
    part.fill(0);
  }
});

/** The values of a row. */
function valuesOf(bytes: Buffer, start: number): (string | null)[] {
  let at = start + 2;
  return Array.from({ length: bytes.readUInt16BE(start) }, () => {
    const length = bytes.readInt32BE(at);
    at += 4 + Math.max(length, 0);
    return length < 0 ? null : bytes.toString('utf8', at - length, at);
  });
}

function taken(on: PoolClient, text: string, values: readonly unknown[] = []) {
  const rows: (string | null)[][] = [];
  const query = new Query(text, [...values]);
  receiveRows(on, query, (bytes, start) => rows.push(valuesOf(bytes, start)));
  const ended = new Promise<(string | null)[][]>((resolve, reject) => {
    query.on('end', () => resolve(rows)).on('error', reject);
  });
  on.query(query);
  return ended;
}

const ROWS: readonly (readonly (string | null)[])[] = [
  ['a', ''],
  ['b', null],
  [null, 'ü😀'],
  ['d', 'long '.repeat(60_000)],
  ['e', 'Z'],
];
const TEXT = `SELECT v ->> 0 AS k, v ->> 1 AS x FROM json_array_elements($1::json) v`;

test('rows are returned as bytes, and everything else goes to the driver, wherever the bytes are split', async () => {
  for (size of [Number.POSITIVE_INFINITY, 1, 2, 3, 4, 5, 6, 7, 11, 100, 8191]) {
    const some = size < 100 ? ROWS.filter(([k]) => k !== 'd') : ROWS;
    const [before, rows, between, none, more, behind] = await Promise.all([
      client.query('SELECT 1 AS one'),
      taken(client, TEXT, [JSON.stringify(some)]),
      client.query({ text: TEXT, values: [JSON.stringify(some)] }),
      taken(client, 'SELECT 1 WHERE false'),
      taken(client, 'SELECT g::text FROM generate_series(1, 300) g'),
      client.query('SELECT 2 AS two'),
    ]);
    assert.deepEqual(rows, some);
    assert.deepEqual(
      between.rows.map(({ k, x }) => [k, x]),
      some,
    );
    assert.deepEqual(none, []);
    assert.deepEqual(
      more,
      Array.from({ length: 300 }, (_, index) => [String(index + 1)]),
    );
    assert.deepEqual([before.rows, behind.rows], [[{ one: 1 }], [{ two: 2 }]]);
  }
});

test('a statement that fails before its rows, or among them, does not affect the rows of the next statements', async () => {
  for (size of [Number.POSITIVE_INFINITY, 3]) {
    const asked = [
      taken(client, 'SELECT nothing'),
      client.query('SELECT 3 AS three'),
      taken(client, 'SELECT 1 / (3 - g) FROM generate_series(1, 5) g'),
      client.query('SELECT 4 AS four'),
      taken(client, "SELECT 'five'"),
    ] as const;
    const [missing, three, amidst, four, five] = await Promise.allSettled(asked);
    assert.deepEqual([missing.status, amidst.status], ['rejected', 'rejected']);
    assert.deepEqual(three.status === 'fulfilled' && three.value.rows, [{ three: 3 }]);
    assert.deepEqual(four.status === 'fulfilled' && four.value.rows, [{ four: 4 }]);
    assert.deepEqual(five.status === 'fulfilled' && five.value, [['five']]);
  }
});

test('a prepared statement returns its row without a description, between other statements', async () => {
  for (size of [Number.POSITIVE_INFINITY, 1, 7]) {
    const name = `prepared ${size}`;
    const text = 'SELECT $1 AS a, NULL AS b, 1 / (length($1) - 3) AS c WHERE $1 <> $$none$$';
    await client.query({ name, text, values: ['four'] });
    const asked = [
      client.query('SELECT 6 AS six'),
      runPrepared(client, name, 'four'),
      runPrepared(client, name, 'six'),
      runPrepared(client, name, 'none'),
      taken(client, "SELECT 'seven'"),
      runPrepared(client, name, ''),
    ] as const;
    const [six, four, failed, none, seven, empty] = await Promise.allSettled(asked);
    assert.deepEqual(six.status === 'fulfilled' && six.value.rows, [{ six: 6 }]);
    assert.deepEqual(four.status === 'fulfilled' && four.value, ['four', null, '1']);
    assert.match(failed.status === 'rejected' ? String(failed.reason) : '', /division by zero/);
    assert.deepEqual(none.status === 'fulfilled' && none.value, []);
    assert.deepEqual(seven.status === 'fulfilled' && seven.value, [['seven']]);
    assert.deepEqual(empty.status === 'fulfilled' && empty.value, ['', null, '0']);
  }
});

test('a connection that is not watched rejects requests for rows as bytes', () => {
  assert.throws(() => receiveRows(new Client(), new Query(''), () => undefined), /watches/);
});
