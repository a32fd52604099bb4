/**
 * Hidden content makes no difference in any response (I4): the same requests go to two stores that differ only in hidden content.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeRandom } from '../oracle/random.ts';
import type { Engine } from '../support/engine.ts';
import { followEvents, type ServerEvent } from '../support/event-client.ts';
import { type Answer, startTestService } from '../support/service.ts';
import { type Probe, type ProbeSurface, probe } from './probes.ts';
import { changeTwin, fillTwin, ROLES, SYSTEM, type Twin } from './twins.ts';

/** Of the 500 probes in `npm test`, an engine with expensive responses gets some. */
const probesOn = ({ share }: Engine): number =>
  process.env.PLAT_FULL === '1' ? 10_000 : share === undefined ? 500 : 150;
/**
 * Whether each role follows each path and each stream in every round. If responses are expensive, each role follows some of them, and
 * each is followed by some role.
 */
const isWhole = ({ share }: Engine): boolean => process.env.PLAT_FULL === '1' || share === undefined;
const ONLY = process.env.PLAT_SEED;
const IN_FLIGHT = 4;
const UNLIMITED = { requests: 1e9, seconds: 300 };
const LIMITS = { api: UNLIMITED, replication: UNLIMITED, floorplans: UNLIMITED, admin: UNLIMITED };
const SURFACES = ['api', 'replication', 'floorplans'] as const;

/** Headers that identify a request or a store, or depend on the current time. */
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
    const get = ({ surface, path, method, headers }: Probe, role: string): Promise<Answer> =>
      service.get(surface, path, { token: tokens.get(`${surface} ${role}`), method, headers });
    const comparable = (answer: Answer, { surface, path }: Pick<Probe, 'surface' | 'path'>): string => {
      // The entity tag of a key's own account covers the id of the key.
      const own = path === '/v1/my/account' ? ['etag'] : [];
      return comparableText(answer, service.addresses[surface], own);
    };
    const ask = async (asked: Probe, role: string): Promise<string> =>
      comparable(await get(asked, role), asked);
    const change = (round: number): Promise<void> => changeTwin(service, twin, round);
    const follow = async (role: string, query: string) => {
      const { replication } = service.addresses;
      const client = await followEvents(replication, { token: tokens.get(`replication ${role}`), query });
      after(() => client.close());
      // The names of commits are random.
      const until = async (passes: (event: ServerEvent) => boolean): Promise<string> =>
        JSON.stringify(await client.until(passes), undefined, 1)
          .replaceAll(replication, 'ADDRESS')
          .replaceAll(/("(?:id|position)": "\d+)\.[^"]+/g, '$1');
      return { until };
    };
    const end = async (): Promise<number> => (await service.store.changesKnown()).last;
    return { ask, get, comparable, change, follow, end };
  }

  const differs = async (asked: Probe, role: string): Promise<readonly string[] | undefined> => {
    const answers = await Promise.all(twins.map(({ ask }) => ask(asked, role)));
    return answers[0] === answers[1] ? undefined : answers;
  };

  test(`${engine.name}: ${probes} probes do not distinguish stores that differ only in what the role does not see`, async () => {
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

  test(`${engine.name}: deltas do not distinguish stores that differ only in what the role does not see`, async () => {
    const walks = ROLES.flatMap((role, shift) =>
      FOLLOWED.map((path, index) => {
        const surface: ProbeSurface = (index + shift) % 2 === 0 ? 'api' : 'replication';
        const isOptional = (Math.floor(index / 2) + shift) % 2 === 1;
        return { role, surface, path, size: [1, 3, 100][index % 3] ?? 1, isOptional };
      }),
    ).filter(({ isOptional }) => !isOptional || isWhole(engine));
    const links = new Map<(typeof walks)[number], string[]>();
    const headers = { prefer: 'odata.track-changes,odata.maxpagesize=1000' };
    for (const walk of walks) {
      const asked = { ...walk, path: `/Reso/OData/${walk.path}`, method: 'GET', headers } as const;
      const answers = await Promise.all(twins.map(({ get }) => get(asked, walk.role)));
      links.set(walk, answers.map(linkOf));
    }
    const leaks: string[] = [];
    for (let round = 0; round < (isWhole(engine) ? 2 : 1); round++) {
      await Promise.all(twins.map(({ change }) => change(round)));
      for (const walk of walks) {
        for (let isLast = false; !isLast; ) {
          const [first = '', second = ''] = links.get(walk) ?? [];
          const headers = { prefer: `odata.maxpagesize=${walk.size}` };
          const probeOf = (path: string) => ({ ...walk, path, method: 'GET', headers }) as const;
          const answers = await Promise.all(
            twins.map(({ get }, index) => get(probeOf(index === 0 ? first : second), walk.role)),
          );
          const texts = answers.map((answer, index) => twins[index]?.comparable(answer, walk) ?? '');
          if (texts[0] !== texts[1]) leaks.push(`${walk.role} ${walk.path}\n${firstDifference(texts)}`);
          links.set(walk, answers.map(linkOf));
          isLast = answers.some(({ json }) => '@odata.deltaLink' in json);
        }
      }
    }
    assert.equal(leaks.length, 0, `${leaks.length} leaks:\n${leaks.slice(0, 10).join('\n')}`);
  });

  test(`${engine.name}: the stream of changes does not distinguish stores that differ only in what the role does not see`, async () => {
    const asked = [...ROLES, 'private'].flatMap((role, shift) =>
      ['?since=start&records=true', '?since=start&resources=Property,Media,Member,Office,Lookup']
        .filter((_, index) => role === 'private' || isWhole(engine) || (index + shift) % 2 === 0)
        .map((query) => ({ role, query })),
    );
    const streams = await Promise.all(
      asked.map(async ({ role, query }) => ({
        role,
        followers: await Promise.all(twins.map(({ follow }) => follow(role, query))),
      })),
    );
    const leaks: string[] = [];
    let differences = 0;
    for (const round of isWhole(engine) ? [undefined, 2, 3] : [undefined, 2]) {
      if (round !== undefined) await Promise.all(twins.map(({ change }) => change(round)));
      const ends = await Promise.all(twins.map(({ end }) => end()));
      for (const { role, followers } of streams) {
        const texts = await Promise.all(
          followers.map(({ until }, index) =>
            until(
              ({ event, id = '' }) => event === 'position' && Number.parseInt(id, 10) >= (ends[index] ?? 0),
            ),
          ),
        );
        const [first, second] = texts.map(withoutNumbers);
        if (first === second) continue;
        if (role === 'private') differences++;
        else leaks.push(`${role}\n${firstDifference([first ?? '', second ?? ''])}`);
      }
    }
    assert.equal(leaks.length, 0, `${leaks.length} leaks:\n${leaks.slice(0, 10).join('\n')}`);
    assert.ok(differences > 1, 'a key that sees everything receives different changes');
  });

  test(`${engine.name}: the same probes distinguish the stores for a key that sees everything`, async () => {
    let different = 0;
    for (let seed = 1; seed <= 100; seed++) {
      const random = makeRandom(seed);
      random.pick(ROLES);
      if ((await differs(probe(random), 'private')) !== undefined) different++;
    }
    assert.ok(different > 25, `only ${different} of 100 probes differ`);
  });
}

/**
 * The changes of a stream. When the stream reports its position depends on when it is read. The gaps between the numbers of changes
 * are caused by changes of other records (docs/changes.md).
 */
const withoutNumbers = (text: string): string =>
  JSON.stringify(
    JSON.parse(text)
      .filter(({ event }: ServerEvent) => event === 'change')
      .map(({ data: { sequence: _, ...data } }: ServerEvent) => data),
  );

/** Collections whose changes are followed. */
const FOLLOWED = [
  'Property',
  'Property?$select=ListPrice,City,ListAgentFullName',
  'Property?$filter=ListPrice gt 200000&$select=City&$expand=Media,ListAgent($expand=Office)',
  "Property?$filter=contains(PublicRemarks,'granite') and ListAgent/MemberFullName ne 'Ann'&$select=City",
  'Property?$filter=Media/any(m:m/Order gt 3) or UnparsedAddress ne null&$select=City',
  'Property?$search=granite&$select=City',
  'Media?$select=MediaKey',
  'Member',
  'Office?$filter=OfficeName ne null',
  'Lookup',
] as const;

/** The nextLink or deltaLink of a page. */
function linkOf({ status, text, json }: Answer): string {
  assert.equal(status, 200, text);
  return String(json['@odata.nextLink'] ?? json['@odata.deltaLink'] ?? assert.fail(text));
}

/** The complete response, without what identifies its request, its store and its address. */
function comparableText({ status, headers, text }: Answer, address: string, own: readonly string[]): string {
  const named = Object.entries(headers).filter(([name]) => !OWN_HEADERS.has(name) && !own.includes(name));
  const plain = `${JSON.stringify(named)}\n${text}`
    .replaceAll(address, 'ADDRESS')
    // A position names the timeline of its store.
    .replaceAll(/("x-plat-position","\d+)\.[^"]+/g, '$1')
    .replaceAll(/"k_\w+"/g, '"KEY"')
    // Tokens have the same length, whatever their content.
    .replaceAll(
      /((?:deltatoken|trackedsince)=)([\w-]+)/g,
      (_, name: string, token: string) => name + token.length,
    )
    .replaceAll(
      /((?:skiptoken=|"SkipToken":"))([\w-]{12,})/gi,
      (_, name: string, token: string) => name + opened(token),
    );
  return `${status} ${plain}`;
}

/** A token of an order contains the name of the list that its walk reads, which is random. */
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
