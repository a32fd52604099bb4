/** Services in processes of their own, and walks over them. */
import assert from 'node:assert/strict';
import type { Json } from '../support/world.ts';
import type { Running } from './run.ts';

export const ANY_PORT = [
  ...['--api-port', '0', '--replication-port', '0'],
  ...['--floorplans-port', '0', '--admin-port', '0'],
] as const;

/** The address of each surface, as written to stdout. */
export async function addressesOf(running: Running): Promise<Record<string, string>> {
  const text = await running.until(/^admin .*\n/m);
  const lines = text.matchAll(/^(\w+) +(http:\/\/[^/]+)\//gm);
  return Object.fromEntries([...lines].map(([, name = '', address = '']) => [name, address]));
}

/** The first line of a service's log with these words. */
export const lineWith = ({ child, ended }: Running, words: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = '';
    child.stderr?.on('data', (part: string) => {
      text += part;
      const line = text
        .split('\n')
        .slice(0, -1)
        .find((each) => each.includes(words));
      if (line !== undefined) resolve(line);
    });
    ended.then(({ code, err }) => reject(new Error(`ended with ${code}: ${err}`)));
  });

export interface Asked {
  readonly status: number;
  readonly headers: Headers;
  readonly json: Json;
}

export async function get(url: string, token: string): Promise<Asked> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  const json: Json = JSON.parse(await response.text());
  return { status: response.status, headers: response.headers, json };
}

export const rowsOf = ({ json }: Asked): unknown[] => (Array.isArray(json.value) ? json.value : []);

export const keysOf = (rows: readonly unknown[]): unknown[] =>
  rows.map((row) => (typeof row === 'object' && row !== null && 'ListingKey' in row ? row.ListingKey : row));

/** The path of the next page, on any process. */
export function nextOf({ json }: Asked): string | undefined {
  const link = json['@odata.nextLink'];
  return typeof link === 'string' ? link.replace(/^http:\/\/[^/]+/, '') : undefined;
}

export interface Walked {
  readonly rows: unknown[];
  readonly states: (string | null)[];
}

/** Walks to the end, each page from the next process. @param meanwhile called after each page, the first is 0 */
export async function walk(
  path: string,
  token: string,
  servers: readonly string[],
  meanwhile: (page: number) => Promise<void> = async () => undefined,
): Promise<Walked> {
  const rows: unknown[] = [];
  const states: (string | null)[] = [];
  let next: string | undefined = path;
  for (let page = 0; next !== undefined; page++) {
    const answer: Asked = await get(`${servers[page % servers.length]}${next}`, token);
    assert.equal(answer.status, 200, JSON.stringify(answer.json));
    rows.push(...rowsOf(answer));
    states.push(answer.headers.get('x-plat-index'));
    next = nextOf(answer);
    await meanwhile(page);
  }
  return { rows, states };
}
