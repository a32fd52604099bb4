/**
 * Runs the services of `deploy/compose.yaml` as local processes: with their commands and environments, in which the database,
 * hosts, ports and folders of the containers are replaced.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { place } from '../cli/run.ts';
import { freePort } from '../support/free-port.ts';
import { bareDatabase } from '../support/postgres-engine.ts';
import { deployed } from './tools.ts';

const skip = process.env.PLAT_FULL === '1' ? false : 'starts a database; npm run test:full';

const SURFACES = ['API', 'REPLICATION', 'FLOORPLANS', 'ADMIN'];

interface Service {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

test(
  'the services of compose.yaml create a store, serve it, replicate it and serve the replica',
  { skip },
  async (t) => {
    const { services }: { services: Readonly<Record<string, Service>> } = parse(deployed('compose.yaml'), {
      merge: true,
    });
    const at = place({ after });
    const { address, drop } = await bareDatabase();
    t.after(drop);
    const ports = new Map<string, string>();
    for (const name of ['plat', 'replica', 'replica-service']) {
      for (const surface of SURFACES) ports.set(`${name} ${surface}`, String(await freePort()));
    }
    const port = (name: string, surface: string): string => ports.get(`${name} ${surface}`) ?? '';

    /** The command line and environment of a service, adapted to this machine. */
    function here(
      name: string,
      token = '',
    ): { readonly args: readonly string[]; readonly env: Record<string, string> } {
      const { command, environment } = services[name] ?? assert.fail(name);
      const local = Object.entries(environment).map(([variable, value]) => [
        variable,
        value
          .replace(/^postgres:.*/, address)
          .replace('/data', at.folder)
          .replace('http://plat:8081', `http://127.0.0.1:${port('plat', 'REPLICATION')}`)
          .replace(/^\$\{PLAT_REPLICA_TOKEN:-\}$/, token)
          .replace(/^\$\{PLAT_REPLICA_\w+:-\}$/, '')
          .replace('0.0.0.0', '127.0.0.1'),
      ]);
      const own = command[0] === 'serve' ? SURFACES : ['ADMIN'];
      const given =
        name === 'store' ? [] : own.map((surface) => [`PLAT_${surface}_PORT`, port(name, surface)]);
      return { args: command, env: { ...Object.fromEntries(local), ...Object.fromEntries(given) } };
    }
    /** Waits until `/ready` succeeds, as the health check of a container does. */
    async function healthy(name: string): Promise<void> {
      for (let tries = 0; ; tries++) {
        const answer = await fetch(`http://127.0.0.1:${port(name, 'ADMIN')}/ready`).catch(() => undefined);
        if (answer?.ok === true) return;
        assert.ok(tries < 120, `${name}: ${await answer?.text()}`);
        await sleep(250);
      }
    }

    for (const time of ['new', 'again']) {
      const store = here('store');
      const made = at.start(store.args, { env: store.env });
      assert.equal((await made.ended).code, 0, time);
    }
    const plat = here('plat');
    const serving = at.start(plat.args, { env: plat.env });
    await healthy('plat');

    const listings = Array.from({ length: 40 }, (_, index) => ({
      ListingKey: String(1000 + index),
      StandardStatus: 'Active',
    }));
    at.file('l.ndjson', listings);
    await at.done(['import', 'l.ndjson'], { env: plat.env });
    const make = async (env: Record<string, string>, ...more: readonly string[]): Promise<string> =>
      (await at.done(['key', 'create', '--name', 'a', ...more], { env })).trimEnd();
    const replica = here('replica', await make(plat.env));
    const replicating = at.start(replica.args, { env: replica.env });
    await healthy('replica');

    const onward = here('replica-service');
    const servingOnward = at.start(onward.args, { env: onward.env });
    await healthy('replica-service');
    const token = await make(onward.env, '--kind', 'api');
    // The headers of a proxy on the host.
    const headers = {
      authorization: `Bearer ${token}`,
      'x-forwarded-host': 'api.example.org',
      'x-forwarded-proto': 'https',
    };
    const asked = `http://127.0.0.1:${port('replica-service', 'API')}/Reso/OData/Property?$select=ListingKey&$count=true`;
    const page: unknown = JSON.parse(await (await fetch(asked, { headers })).text());
    assert.deepEqual(page, {
      '@odata.context': 'https://api.example.org/Reso/OData/$metadata#Property(ListingKey)',
      '@odata.count': 40,
      value: listings.map(({ ListingKey }) => ({ ListingKey })),
    });

    for (const { child, ended } of [servingOnward, replicating, serving]) {
      child.kill('SIGTERM');
      assert.equal((await ended).code, 0);
    }
  },
);
