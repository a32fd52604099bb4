/** Single records while another key sends the most expensive requests that are possible: how much its budget leaves to others. */
import { makeClient } from './support/client.ts';
import { interleave } from './support/interleave.ts';
import type { Measurement } from './support/measure.ts';
import { startHelper } from './support/process.ts';
import { recordCase, someKeys } from './support/record-requests.ts';
import { startService } from './support/service.ts';
import type { Subject } from './support/subject.ts';

const QUIET = 'a record by key, nobody else asks';

/** The number of rounds of each case, and of requests in a round: enough for a 99th percentile. */
const ROUNDS = 10;
const COUNT = 200;

/** The requests of the greedy key, and the number that it has in progress. */
const GREED = [
  ['the dearest', 'dearest', 1],
  ['the dearest', 'dearest', 8],
  ['the dearest', 'dearest', 64],
  ['records by key', 'small', 400],
  ['addresses of 16 KB', 'long', 64],
] as const;

export const serviceShares: Subject = {
  title: 'service, shares of two keys',
  floors: [QUIET],
  async run(context) {
    const service = await startService(context);
    const client = makeClient();
    const asking = { token: service.tokens.idx };
    const keys = await someKeys(service, client, asking);
    const requests = (name: string) =>
      recordCase({
        ...{ name, by: service.process, atOnce: 1, client, asking, keys, count: COUNT },
        address: (key) => `${service.reso}Property('${key}')`,
      });
    try {
      const found: Measurement[] = await interleave([requests(QUIET)], ROUNDS, context.engine.used);
      for (const [what, kind, atOnce] of GREED) {
        const { private: token } = service.tokens;
        const greedy = startHelper('./greedy.ts', [service.reso, token, String(atOnce), kind]);
        await greedy.said(/asking/);
        const name = `while another key asks for ${what}, ${atOnce} at once`;
        found.push(...(await interleave([requests(name)], ROUNDS, context.engine.used)));
        await greedy.stop();
        const [, statuses = ''] = await greedy.said(/ended (.*)/);
        console.error(`${name}: it got ${statuses}`);
      }
      found.push(...(await interleave([requests('nobody else again')], ROUNDS, context.engine.used)));
      return found;
    } finally {
      client.close();
      await service.process.stop();
    }
  },
};
