/** Single records from the service: how long a client waits, and how many requests are answered per second. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeClient } from './support/client.ts';
import { type Case, interleave } from './support/interleave.ts';
import type { Measurement } from './support/measure.ts';
import { type Running, startHelper } from './support/process.ts';
import { PAGE } from './support/reads.ts';
import { recordCase, someKeys } from './support/record-requests.ts';
import { startFloor, startService } from './support/service.ts';
import type { Subject } from './support/subject.ts';

const ONE = 'prepared bytes of a record, bare HTTP, one at a time';
const MANY = 'prepared bytes of a record, bare HTTP, 8 at once';

/** The number of rounds of a case. */
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
    ): Case => recordCase({ name, by: process, atOnce, client, asking, keys, address });
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
