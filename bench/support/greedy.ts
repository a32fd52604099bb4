/**
 * A client that sends the most expensive requests that are possible, or many small or long ones, several at once, until it is
 * stopped. If it is refused, it waits as long as the response demands. At its end, it reports the outcomes of its requests.
 */
import { Agent, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';

const [, , root = '', token = '', atOnce = '8', kind = 'dearest'] = process.argv;
const agent = new Agent({ keepAlive: true });
const statuses = new Map<number, number>();
process.on('SIGTERM', () => {
  console.log(`ended ${JSON.stringify(Object.fromEntries(statuses))}`);
  process.exit(0);
});

let asked = 0;
/** Each differs from all others, so that no response can come from a cache. */
const DEAREST: readonly (() => string)[] = [
  () => `Property?$top=100&$expand=Rooms($expand=Listing($expand=Media,Rooms))&$skip=${asked}`,
  () => `Property?$top=1&$filter=contains(PublicRemarks,'${asked} z')&$orderby=PublicRemarks`,
  () => `Property?$top=1&$count=true&$filter=matchespattern(PublicRemarks,'(a|b)*c${asked}')`,
  () =>
    `Property?$top=1&$filter=Media/any(m:contains(m/LongDescription,'x${asked}')) or Rooms/any(r:r/RoomKey eq '${asked}')`,
  () => `Property?$top=1000&$expand=Media&$skip=${asked % 1000}`,
  () => `Property?$top=1&$orderby=length(PublicRemarks) desc,ListPrice add ${asked}`,
];

/** Conditions that make an address of nearly 16 KB. */
const MANY = Array.from({ length: 540 }, (_, at) => ` or City eq '${at}'`).join('');

let keys: readonly string[] = [];

async function readKeys(): Promise<readonly string[]> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${root}Property?$top=1000&$select=ListingKey`, { headers });
  const { value }: { value: { ListingKey: string }[] } = JSON.parse(await response.text());
  return value.map(({ ListingKey }) => ListingKey);
}

const KINDS: Readonly<Record<string, readonly (() => string)[]>> = {
  dearest: DEAREST,
  small: [() => `Property('${keys[asked % keys.length]}')`],
  long: [() => `Property?$top=1&$filter=ListPrice eq ${asked}${MANY}`],
};

function ask(path: string): Promise<{ status: number; wait: number }> {
  const headers = {
    authorization: `Bearer ${token}`,
    'accept-encoding': asked % 2 === 0 ? 'gzip' : 'identity',
  };
  return new Promise((resolve, reject) => {
    const sent = request(encodeURI(`${root}${path}`), { agent, headers }, (response) => {
      response.resume();
      response.on('error', reject);
      response.on('end', () => {
        resolve({
          status: response.statusCode ?? 0,
          wait: Number(response.headers['retry-after'] ?? 0),
        });
      });
    });
    sent.on('error', reject).end();
  });
}

const paths = KINDS[kind] ?? [];

async function go(): Promise<never> {
  for (;;) {
    asked++;
    const path = paths[asked % paths.length]?.() ?? '';
    const { status, wait } = await ask(path);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (wait > 0) await setTimeout(Math.min(wait, 1) * 1000);
  }
}

if (kind === 'small') keys = await readKeys();
console.log('asking');
await Promise.all(Array.from({ length: Number(atOnce) }, go));
