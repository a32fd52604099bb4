import { mock } from 'node:test';
import pg from 'pg';
import { postgresDialect } from '../../../src/engines/postgres/dialect.ts';
import { faultContract } from '../../store/contract/faults.ts';
import { countedSteps } from '../../store/contract/steps.ts';
import { postgresEngine } from '../../support/postgres-engine.ts';

const { Client, Pool } = pg;

/** Every pool that was asked for a connection, until it has ended. */
const pools = new Set<InstanceType<typeof Pool>>();

const counted = countedSteps((step) => {
  const { query } = Client.prototype;
  mock.method(Client.prototype, 'query', function (this: pg.Client, ...given: never[]) {
    step();
    return Reflect.apply(query, this, given);
  });
  const { connect, end } = Pool.prototype;
  mock.method(Pool.prototype, 'connect', function (this: pg.Pool, ...given: never[]) {
    pools.add(this);
    return Reflect.apply(connect, this, given);
  });
  mock.method(Pool.prototype, 'end', function (this: pg.Pool, ...given: never[]) {
    pools.delete(this);
    return Reflect.apply(end, this, given);
  });
  return [postgresDialect];
});

/** Takes all connections of all pools at once, which is possible only if nobody else holds one. */
async function takeAll(): Promise<void> {
  for (const pool of pools) {
    const taken = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()));
    for (const client of taken) client.release();
  }
}

await faultContract(postgresEngine(), { ...counted, free: takeAll });
