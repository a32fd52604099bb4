import assert from 'node:assert/strict';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { mock } from 'node:test';
import { sqliteDialect } from '../../src/engines/sqlite/dialect.ts';
import { sqliteEngine } from '../support/sqlite-engine.ts';
import { faultContract } from './contract/faults.ts';
import { countedSteps } from './contract/steps.ts';

/** Every open connection that has been used. */
const seen = new Set<DatabaseSync>();

const counted = countedSteps((step) => {
  const { exec, prepare } = DatabaseSync.prototype;
  mock.method(DatabaseSync.prototype, 'exec', function (this: DatabaseSync, text: string) {
    seen.add(this);
    // The engine always rolls back.
    if (text !== 'ROLLBACK') step();
    return exec.call(this, text);
  });
  mock.method(DatabaseSync.prototype, 'prepare', function (this: DatabaseSync, text: string) {
    step();
    return prepare.call(this, text);
  });
  for (const name of ['close', Symbol.dispose] as const) {
    const real = DatabaseSync.prototype[name];
    mock.method(DatabaseSync.prototype, name, function (this: DatabaseSync) {
      seen.delete(this);
      real.call(this);
    });
  }
  for (const name of ['get', 'all', 'run', 'iterate'] as const) {
    const real = StatementSync.prototype[name];
    mock.method(StatementSync.prototype, name, function (this: StatementSync, ...values: never[]) {
      step();
      return Reflect.apply(real, this, values);
    });
  }
  return [sqliteDialect];
});

/** The connections of one store at rest. */
const OF_A_STORE = 3;

await faultContract(sqliteEngine(), {
  ...counted,
  async free() {
    assert.equal(seen.size, OF_A_STORE, 'open connections');
    for (const database of seen)
      assert.equal(database.isTransaction, false, 'a transaction that has not ended');
  },
});
