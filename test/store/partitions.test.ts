/** The server engine with partitioned tables: the parts of the contract that partitions affect, or with PLAT_FULL=1 all. */
import { suite } from 'node:test';
import { postgresEngine } from '../support/postgres-engine.ts';
import { deleteContract } from './contract/deletes.ts';
import { storeContract } from './contract/index.ts';
import { orphanContract } from './contract/orphans.ts';
import { pagingContract } from './contract/paging.ts';
import { parentContract } from './contract/parents.ts';
import { systemContract } from './contract/systems.ts';

const engine = postgresEngine('OriginatingSystemID');

const SHARE = {
  deletes: deleteContract,
  orphans: orphanContract,
  paging: pagingContract,
  parents: parentContract,
  systems: systemContract,
};

if (process.env.PLAT_FULL === '1') storeContract(engine);
else {
  for (const [name, contract] of Object.entries(SHARE)) {
    suite(`${engine.name}: ${name}`, () => contract(engine));
  }
}
