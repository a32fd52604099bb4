import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { BoundValue } from '../../../src/compile/fragment.ts';
import { parsePostgresAddress } from '../../../src/engines/postgres/connection/address.ts';
import { StorePool } from '../../../src/engines/postgres/connection/connect.ts';
import { withSession } from '../../../src/engines/postgres/connection/session.ts';
import { copyIn } from '../../../src/engines/postgres/writing/copy-in.ts';
import { postgresServer } from '../../support/postgres-server.ts';

const server = await postgresServer();
const pool = new StorePool(parsePostgresAddress(server.address('postgres')));
after(() => pool.end());

/** More rows than are sent at once. */
const MANY = 30_000;

function* rowsOf(cellsOf: (index: number) => readonly BoundValue[]): Iterable<readonly BoundValue[]> {
  for (let index = 0; index < MANY; index++) yield cellsOf(index);
}

test('cells of every kind are stored unchanged, however many rows there are', () =>
  withSession(pool, async (session) => {
    await session.run(
      'CREATE TEMP TABLE many (id integer, text text, number double precision, flag boolean)',
    );
    const text = 'a\tb\nc\\d\re\\N Ü \u{1f3e0}';
    await copyIn(
      session,
      'many',
      ['id', 'text', 'number', 'flag'],
      rowsOf((index) => [index, index % 2 === 0 ? text : null, index / 4, index % 3 === 0]),
    );
    const [row] = await session.rows(
      `SELECT count(*)::integer AS rows, count(*) FILTER (WHERE text = $1)::integer AS texts, sum(number) AS sum,
         count(*) FILTER (WHERE flag)::integer AS flags FROM many`,
      [text],
    );
    const sum = (MANY * (MANY - 1)) / 8;
    assert.deepEqual({ ...row }, { rows: MANY, texts: MANY / 2, sum, flags: MANY / 3 });
  }));

test('an error of the server in the middle is reported, and the connection remains usable', () =>
  withSession(pool, async (session) => {
    await session.run('CREATE TEMP TABLE refused (id integer)');
    const rows = rowsOf((index) => [index === 9 ? 'nine' : index]);
    await assert.rejects(
      copyIn(session, 'refused', ['id'], rows),
      /invalid input syntax for type integer: "nine"/,
    );
    assert.deepEqual(await session.rows('SELECT * FROM refused'), []);
  }));

test('rows that cannot be generated roll back those before them, and their error is reported', () =>
  withSession(pool, async (session) => {
    await session.run('CREATE TEMP TABLE broken (id integer)');
    const rows = rowsOf((index) => {
      if (index === MANY - 1) throw new RangeError('no more');
      return [index];
    });
    await assert.rejects(copyIn(session, 'broken', ['id'], rows), new RangeError('no more'));
    assert.deepEqual(await session.rows('SELECT * FROM broken'), []);
  }));
