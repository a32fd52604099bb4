/** Single records over the service: how long a client waits, and how many are answered in a second. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Asking, type Client, makeClient } from './support/client.ts';
import { type Case, interleave } from './support/interleave.ts';
import type { Measurement } from './support/measure.ts';
import { type Running, startHelper } from './support/process.ts';
import { PAGE } from './support/reads.ts';
import { type RunningService, startFloor, startService } from './support/service.ts';
import type { Subject } from './support/subject.ts';

const ONE = 'prepared bytes of a record, bare HTTP, one at a time';
const MANY = 'prepared bytes of a record, bare HTTP, 8 at once';

/** Requests of a case in a round, and rounds. */
const REQUESTS = 400;
const ROUNDS = 8;

export const serviceRecords: Subject = {
  title: 'service, a record by key',
  floors: [ONE, MANY],
  async run(context) {
    const service = await startService(context);
    const client = makeClient();
    const asking = { token: service.tokens.idx };
    const keys = await someKeys(service, client, asking);
    const record = await client.read(`${service.reso}Property('${keys[0]}')`, asking);
    const file = join(context.folder, 'record.json');
    writeFileSync(file, record);
    const floor = await startFloor([file]);
    const by = service.process;
    const requests = (
      name: string,
      process: Running,
      atOnce: number,
      address: (key: string) => string,
    ): Case => caseOf({ name, by: process, atOnce, client, asking, keys, address });
    const reso = (key: string): string => `${service.reso}Property('${key}')`;
    try {
      const alone = await interleave(
        [
          requests(ONE, floor.process, 1, () => `${floor.root}0`),
          requests('one at a time', by, 1, reso),
          requests('one at a time, with Media', by, 1, (key) => `${reso(key)}?$expand=Media`),
          requests('native, one at a time', by, 1, (key) => `${service.native}listings/${key}`),
          requests(MANY, floor.process, 8, () => `${floor.root}0`),
          requests('8 at once', by, 8, reso),
        ],
        ROUNDS,
        context.engine.used,
      );
      const walk = `${service.reso}Property?$count=true&$top=${PAGE}`;
      const walker = startHelper('./walker.ts', [walk, service.tokens.private]);
      await walker.said(/walking/);
      const beside = await interleave(
        [
          requests('one at a time, while another client walks full pages', by, 1, reso),
          requests('8 at once, while another client walks full pages', by, 8, reso),
        ],
        ROUNDS,
        context.engine.used,
      );
      await walker.stop();
      return [...alone, ...beside] satisfies Measurement[];
    } finally {
      client.close();
      await Promise.all([by.stop(), floor.process.stop()]);
    }
  },
};

async function someKeys({ reso }: RunningService, client: Client, asking: Asking): Promise<string[]> {
  const body = await client.read(`${reso}Property?$select=ListingKey&$top=${PAGE}`, asking);
  const { value }: { value: { ListingKey: string }[] } = JSON.parse(body.toString());
  return value.map(({ ListingKey }) => ListingKey);
}

interface Requests {
  readonly name: string;
  readonly by: Running;
  readonly atOnce: number;
  readonly client: Client;
  readonly asking: Asking;
  readonly keys: readonly string[];
  readonly address: (key: string) => string;
}

function caseOf({ name, by, atOnce, client, asking, keys, address }: Requests): Case {
  const waits: number[] = [];
  let next = 0;
  let bytes = 0;
  let spent = 0;
  const one = async (): Promise<void> => {
    next = (next + 617) % keys.length;
    const start = performance.now();
    ({ bytes } = await client.get(address(keys[next] ?? ''), asking));
    waits.push(performance.now() - start);
  };
  const some = async (): Promise<void> => {
    for (let count = 0; count < REQUESTS / atOnce; count++) await one();
  };
  return {
    ...{ name, by },
    async call(round) {
      if (round === 1) {
        waits.length = 0; // the first round is not counted
        spent = 0;
      }
      const start = performance.now();
      await Promise.all(Array.from({ length: atOnce }, some));
      spent += performance.now() - start;
      const sorted = waits.toSorted((left, right) => left - right);
      const at = (part: number): string => (sorted[Math.floor(sorted.length * part)] ?? 0).toFixed(2);
      const rate = Math.round((waits.length / spent) * 1000).toLocaleString('en');
      const gave = `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, ${rate}/s, ${(bytes / 1000).toFixed(1)} kB`;
      return { gave, done: REQUESTS };
    },
  };
}
