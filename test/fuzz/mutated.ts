/** Mutated requests to a live service: each gets a proper response in time, and memory stays bounded. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeRandom, type Random } from '../oracle/random.ts';
import { fillMarket, KEYS } from '../service/reso/market.ts';
import type { Engine } from '../support/engine.ts';
import { type Answer, startTestService } from '../support/service.ts';
import { mutated } from './mutate.ts';
import { SEEDS } from './seeds.ts';

const MANY = process.env.PLAT_FULL === '1' ? 50_000 : undefined;
const ONLY = process.env.PLAT_SEED;
/** The time limit of a statement in seconds; with so few records, no request comes near it. */
const PATIENCE = 5;
const IN_FLIGHT = 8;
const UNLIMITED = { requests: 1e9, seconds: 300 };
const LIMITS = { api: UNLIMITED, replication: UNLIMITED, floorplans: UNLIMITED, admin: UNLIMITED };
/** Megabytes by which the process may grow after the first tenth of the requests. */
const GROWTH = 300;

const HEADERS: readonly Readonly<Record<string, string>>[] = [
  ...[{}, {}, {}, {}, {}],
  { prefer: 'odata.maxpagesize=2' },
  { prefer: 'omit-values=nulls, odata.include-annotations="*"' },
  { prefer: 'odata.maxpagesize=%27;;=,"' },
  { accept: 'application/json;odata.metadata=full;q=0.0.1' },
  { 'odata-maxversion': '4.0', 'accept-encoding': 'gzip, br;q=0' },
  { 'if-none-match': 'W/"x", "' },
];

/** All other statuses are faults: above all 500, and 503, which means that a statement exceeded its time limit. */
const STATUSES = new Set([200, 204, 304, 400, 404, 406, 414, 501]);

interface Outcome {
  readonly request: string;
  readonly answer: Answer;
}

/** What is wrong with a response; undefined if it is as it should be. */
function fault({ answer }: Outcome): string | undefined {
  const { status, headers, text } = answer;
  if (!STATUSES.has(status)) return `status ${status}: ${text.slice(0, 300)}`;
  if (/\b(SQLITE|SELECT |pg_|plat_[a-z]|node:|\.ts:\d)/.test(status === 200 ? '' : text))
    return `reveals internals: ${text}`;
  const type = headers['content-type'] ?? '';
  if (status >= 400 && !type.startsWith('application/json')) return `an error of type ${type}`;
  if (!type.startsWith('application/json') || headers['content-encoding'] !== undefined) return undefined;
  try {
    JSON.parse(text);
    return undefined;
  } catch {
    return `not JSON: ${text.slice(0, 300)}`;
  }
}

const megabytes = (): number => process.memoryUsage().rss / 1e6;

/** Tests a service on stores of the engine. @param usual the number of requests in `npm test` */
export async function fuzzSuite(engine: Engine, usual: number): Promise<void> {
  const requests = MANY ?? usual;
  const service = await startTestService(
    { after },
    { engine, fill: fillMarket, service: { limits: LIMITS, querySeconds: PATIENCE } },
  );
  const askers = [
    { surface: 'api', token: await service.key('api') },
    { surface: 'api', token: await service.key('api', { role: 'idx' }) },
    { surface: 'replication', token: await service.key('replication', { role: 'idx' }) },
  ] as const;

  async function ask(random: Random): Promise<Outcome> {
    const request = mutated(random, SEEDS);
    const { surface, token } = random.pick(askers);
    // The part before the query is a path, whose first character must be a slash.
    const path = request.startsWith('/') ? request : `/${request}`;
    return {
      request: path,
      answer: await service.get(surface, path, { token, headers: random.pick(HEADERS) }),
    };
  }

  test(`${engine.name}: ${requests} mutated requests get proper responses in time, in bounded memory`, async () => {
    const seeds = ONLY === undefined ? Array.from({ length: requests }, (_, at) => at + 1) : [Number(ONLY)];
    const faults: string[] = [];
    const statuses = new Map<number, number>();
    let before = megabytes();
    let next = 0;
    const work = async (): Promise<void> => {
      for (let seed = seeds[next++]; seed !== undefined; seed = seeds[next++]) {
        if (next === Math.ceil(seeds.length / 10)) before = megabytes();
        const outcome = await ask(makeRandom(seed));
        const wrong = fault(outcome);
        if (wrong !== undefined) faults.push(`PLAT_SEED=${seed} ${outcome.request}\n  ${wrong}`);
        statuses.set(outcome.answer.status, (statuses.get(outcome.answer.status) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, work));
    assert.equal(faults.length, 0, `${faults.length} faults:\n${faults.slice(0, 10).join('\n')}`);
    if (ONLY !== undefined) return;
    const share = (status: number): number => (statuses.get(status) ?? 0) / seeds.length;
    assert.ok(share(200) > 0.1 && share(400) > 0.3, JSON.stringify([...statuses]));
    assert.ok(megabytes() - before < GROWTH, `grew from ${before} to ${megabytes()} MB`);
    const [{ surface, token }] = askers;
    const still = await service.get(surface, '/Reso/OData/Property/$count', { token });
    assert.equal(still.text, String(KEYS.length));
  });
}
