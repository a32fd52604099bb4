/** Values of every type in every position of a request: the service never fails, and both engines give the same response. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fillMarket } from '../service/reso/market.ts';
import { postgresEngine } from '../support/postgres-engine.ts';
import { type Answer, startTestService } from '../support/service.ts';
import { sqliteEngine } from '../support/sqlite-engine.ts';
import { PLACED, type Placed } from './placed.ts';

/** The requests to send: all of them, or every tenth, beginning with this one. */
const EVERY = process.env.PLAT_FULL === '1' ? 1 : 10;
const FIRST = Number(process.env.PLAT_SEED ?? 3) % EVERY;
const IN_FLIGHT = 6;
const UNLIMITED = { requests: 1e9, seconds: 300 };
const LIMITS = { api: UNLIMITED, replication: UNLIMITED, floorplans: UNLIMITED, admin: UNLIMITED };

const services = await Promise.all(
  [sqliteEngine(), postgresEngine()].map(async (engine) => {
    const options = { engine, fill: fillMarket, service: { limits: LIMITS, querySeconds: 5 } };
    const service = await startTestService({ after }, options);
    return { ...service, name: engine.name, token: await service.key('api') };
  }),
);

const STATUSES = new Set([200, 400, 404, 501]);

/**
 * Differences between the engines that are allowed: PostgreSQL rejects a sum or product that leaves the range of numbers, or comes
 * too close to zero, even if its result is not shown; and it returns only fifteen digits of a duration of 300 million years.
 */
const mayDiffer = ({ place, value }: Placed): boolean =>
  / (mul|add) /.test(place) && /e-?30|^922337203685477580/.test(value);

/** The content of a response, without the parts that differ between services. */
function contentOf({ status, text }: Answer, address: string): unknown {
  const plain = text
    .replaceAll(address, '')
    .replaceAll(/"[^"]*\/media\/[^"]*"/g, '"file"')
    .replaceAll(/skiptoken=[^"&]*/gi, 'token')
    .replaceAll(/"SkipToken":"[^"]*"/g, '"token":""');
  return [status, status === 200 ? JSON.parse(plain) : plain];
}

test('a value of any type in any position gets a proper response, the same from both engines', async () => {
  const asked = PLACED.filter((_, index) => index % EVERY === FIRST);
  const wrong: string[] = [];
  const rest = asked.values();
  const work = async (): Promise<void> => {
    for (const placed of rest) {
      const { request } = placed;
      const answers = await Promise.all(services.map((each) => each.get('api', request, each)));
      const contents = answers.map((answer, index) =>
        contentOf(answer, services[index]?.addresses.api ?? ''),
      );
      for (const [index, { status, text }] of answers.entries()) {
        if (!STATUSES.has(status)) wrong.push(`${services[index]?.name}: ${request}\n  ${status} ${text}`);
      }
      const [one, other] = contents.map((each) => JSON.stringify(each));
      if (one !== other && !mayDiffer(placed)) wrong.push(`${request}\n  ${one}\n  ${other}`);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, work));
  assert.equal(wrong.length, 0, `${wrong.length} of ${asked.length}:\n${wrong.slice(0, 10).join('\n')}`);
});
