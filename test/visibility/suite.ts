/** What a role may not see makes no difference to any answer: asked of two stores that differ in nothing else (I4). */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeRandom } from '../oracle/random.ts';
import type { Engine } from '../support/engine.ts';
import { type Answer, startTestService } from '../support/service.ts';
import { type Probe, probe } from './probes.ts';
import { fillTwin, ROLES, SYSTEM, type Twin } from './twins.ts';

/** Of 1,000 in `npm test`, an engine whose answers are dear takes some. */
const probesOn = ({ share }: Engine): number =>
  process.env.PLAT_FULL === '1' ? 10_000 : share === undefined ? 1000 : 300;
const ONLY = process.env.PLAT_SEED;
const IN_FLIGHT = 4;
const UNLIMITED = { requests: 1e9, seconds: 300 };
const LIMITS = { api: UNLIMITED, replication: UNLIMITED, floorplans: UNLIMITED, admin: UNLIMITED };
const SURFACES = ['api', 'replication', 'floorplans'] as const;

/** What names a request or a store, and a time that runs while they are asked. */
const OWN_HEADERS = new Set(['x-request-id', 'server-timing', 'x-plat-epoch', 'ratelimit']);

export async function visibilitySuite(engine: Engine): Promise<void> {
  const probes = probesOn(engine);
  const twins = [await open('first'), await open('second')] as const;

  async function open(twin: Twin) {
    const fill = (world: Parameters<typeof fillTwin>[0]) => fillTwin(world, twin);
    const service = await startTestService({ after }, { engine, fill, service: { limits: LIMITS } });
    const tokens = new Map<string, string>();
    for (const role of [...ROLES, 'private']) {
      for (const kind of SURFACES) {
        const systems = kind === 'floorplans' ? [SYSTEM] : [];
        tokens.set(`${kind} ${role}`, await service.key(kind, { role, systems }));
      }
    }
    const ask = async ({ surface, path, method, headers }: Probe, role: string): Promise<string> => {
      const token = tokens.get(`${surface} ${role}`);
      const answer = await service.get(surface, path, { token, method, headers });
      // The tag of a key's own account covers the key's id.
      const own = path === '/v1/my/account' ? ['etag'] : [];
      return said(answer, service.addresses[surface], own);
    };
    return { ask };
  }

  const differs = async (asked: Probe, role: string): Promise<readonly string[] | undefined> => {
    const answers = await Promise.all(twins.map(({ ask }) => ask(asked, role)));
    return answers[0] === answers[1] ? undefined : answers;
  };

  test(`${engine.name}: ${probes} probes tell a role nothing of what it does not see`, async () => {
    const seeds = ONLY === undefined ? Array.from({ length: probes }, (_, at) => at + 1) : [Number(ONLY)];
    const leaks: string[] = [];
    const rest = seeds.values();
    const work = async (): Promise<void> => {
      for (const seed of rest) {
        const random = makeRandom(seed);
        const role = random.pick(ROLES);
        const asked = probe(random);
        const answers = await differs(asked, role);
        if (answers === undefined) continue;
        leaks.push(
          `PLAT_SEED=${seed} ${role} ${asked.surface} ${asked.method} ${asked.path}\n${firstDifference(answers)}`,
        );
      }
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, work));
    assert.equal(leaks.length, 0, `${leaks.length} leaks:\n${leaks.slice(0, 10).join('\n')}`);
  });

  test(`${engine.name}: the same probes tell a key that sees everything of the difference`, async () => {
    let told = 0;
    for (let seed = 1; seed <= 100; seed++) {
      const random = makeRandom(seed);
      random.pick(ROLES);
      if ((await differs(probe(random), 'private')) !== undefined) told++;
    }
    assert.ok(told > 25, `only ${told} of 100 probes differ`);
  });
}

/** The whole answer, without what names its request, its store and where it listens. */
function said({ status, headers, text }: Answer, address: string, own: readonly string[]): string {
  const named = Object.entries(headers).filter(([name]) => !OWN_HEADERS.has(name) && !own.includes(name));
  const plain = `${JSON.stringify(named)}\n${text}`
    .replaceAll(address, 'ADDRESS')
    .replaceAll(/"k_\w+"/g, '"KEY"')
    .replaceAll(
      /((?:skiptoken=|"SkipToken":"))([\w-]{12,})/gi,
      (_, name: string, token: string) => name + opened(token),
    );
  return `${status} ${plain}`;
}

/** A token of an order holds the name of the list that its walk goes over, which is drawn at random. */
function opened(token: string): string {
  try {
    const content: unknown = JSON.parse(Buffer.from(token, 'base64url').toString());
    return Array.isArray(content) ? JSON.stringify(content.toSpliced(2, 1)) : token;
  } catch {
    return token;
  }
}

function firstDifference([one = '', other = '']: readonly string[]): string {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  const around = (text: string): string =>
    `  ${text.slice(0, 4)} …${text.slice(Math.max(0, at - 60), at + 80)}`;
  return `${around(one)}\n${around(other)}`;
}
