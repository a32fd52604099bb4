/**
 * Clients in other languages, or too large to install here. The requests of each were recorded while it ran (`recorded/`, one
 * file each, with its source and version). They are sent to a live service with the same market, and the parts of each response
 * that the client reads must be the recorded ones. docs/clients.md describes how each was run, and is compared with these files.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gunzipSync, inflateSync } from 'node:zlib';
import type { SurfaceName } from '../../src/service/surface.ts';
import { type Answer, startTestService } from '../support/service.ts';
import { fill, SETTINGS } from './world.ts';

type Headers = Readonly<Record<string, string>>;

/** A request as the client sent it, and the parts of the response that it reads. */
interface Recorded {
  /** The call of the client. */
  readonly does: string;
  readonly method?: string;
  readonly path: string;
  /** In addition to the headers of all requests of the client. */
  readonly headers?: Headers;
  /** Absent: 200. */
  readonly status?: number;
  /** Values by path, in which `/value/*` is each row. */
  readonly reads?: Readonly<Record<string, unknown>>;
  /** The client follows `@odata.nextLink`: the values that it reads of each page. */
  readonly follows?: { readonly rows: string; readonly pages: readonly unknown[] };
  /** Texts that the client searches for. */
  readonly holds?: readonly string[];
  /** The media type and OData version that the client requires. */
  readonly type?: string;
  readonly version?: string;
  /** The header that a CORS preflight request asks for. */
  readonly allows?: string;
}

interface Client {
  readonly client: string;
  readonly version: string;
  readonly source: string;
  readonly shown: string;
  readonly surface: SurfaceName;
  readonly headers: Headers;
  readonly requests: readonly Recorded[];
}

const FOLDER = fileURLToPath(new URL('recorded/', import.meta.url));
const clients: readonly Client[] = globSync('*.json', { cwd: FOLDER })
  .toSorted()
  .map((name) => JSON.parse(readFileSync(`${FOLDER}${name}`, 'utf8')));

const service = await startTestService({ after }, { fill, settings: SETTINGS });
const tokens = new Map([
  ['api', await service.key('api')],
  ['replication', await service.key('replication')],
]);

/** The value at a path; for a path with `*`, the list of all values. */
function valueAt(value: unknown, place: string): unknown {
  let found: unknown[] = [value];
  for (const step of place.split('/').slice(1)) {
    found = step === '*' ? found.flat(1) : found.map((each) => memberOf(each, step));
  }
  return place.includes('*') ? found : found[0];
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

/** The decompressed body; the recorded clients accept no other encodings. */
function textOf({ headers, bytes }: Answer): string {
  switch (headers['content-encoding']) {
    case undefined:
      return bytes.toString();
    case 'gzip':
      return gunzipSync(bytes).toString();
    case 'deflate':
      return inflateSync(bytes).toString();
    default:
      return assert.fail(`${headers['content-encoding']} was not requested`);
  }
}

async function send(client: Client, request: Recorded, path: string): Promise<Answer> {
  const token = tokens.get(client.surface) ?? '';
  const basic = Buffer.from(`any:${token}`).toString('base64');
  // A preflight request does not have the headers that it asks for.
  const common = request.allows === undefined ? client.headers : {};
  const headers = Object.entries({ ...common, ...request.headers }).map(([name, value]) => [
    name,
    value.replace('{token}', token).replace('{basic}', basic),
  ]);
  const { method = 'GET' } = request;
  const answer = await service.get(client.surface, path, { headers: Object.fromEntries(headers), method });
  assert.equal(answer.status, request.status ?? 200, `${request.does}: ${textOf(answer)}`);
  return answer;
}

async function replay(client: Client, request: Recorded): Promise<void> {
  const answer = await send(client, request, request.path);
  const { headers } = answer;
  if (request.allows !== undefined) {
    const origin: unknown = headers['access-control-allow-origin'];
    assert.ok(origin === '*' || origin === request.headers?.origin, request.does);
    assert.match(String(headers['access-control-allow-methods']), /\bGET\b/);
    assert.match(String(headers['access-control-allow-headers']), new RegExp(`\\b${request.allows}\\b`, 'i'));
    return;
  }
  if (client.headers.origin !== undefined) {
    const allowed: unknown = headers['access-control-allow-origin'];
    assert.ok(allowed === '*' || allowed === client.headers.origin, request.does);
  }
  if (request.type !== undefined)
    assert.match(String(headers['content-type']), new RegExp(`^${request.type}\\b`));
  if (request.version !== undefined) assert.equal(headers['odata-version'], request.version);
  const text = textOf(answer);
  for (const part of request.holds ?? []) assert.ok(text.includes(part), `${request.does}: no ${part}`);
  const { reads = {}, follows } = request;
  const read = Object.keys(reads).map((place) => [place, valueAt(JSON.parse(text), place) ?? null]);
  assert.deepEqual(Object.fromEntries(read), reads, request.does);
  if (follows === undefined) return;
  const pages: unknown[] = [];
  for (let page: unknown = JSON.parse(text); ; ) {
    pages.push(valueAt(page, follows.rows));
    const next = memberOf(page, '@odata.nextLink');
    if (typeof next !== 'string') break;
    page = JSON.parse(textOf(await send(client, request, next)));
  }
  assert.deepEqual(pages, follows.pages, request.does);
}

for (const client of clients) {
  test(`${client.client} ${client.version} reads the recorded values`, async () => {
    assert.ok(client.requests.length > 1);
    for (const request of client.requests) await replay(client, request);
  });
}

test('docs/clients.md lists each recorded client and each installed package with its version', () => {
  const document = readFileSync(new URL('../../docs/clients.md', import.meta.url), 'utf8');
  for (const { client, version, source } of clients) {
    const row = document.split('\n').find((line) => line.startsWith('|') && line.includes(source));
    assert.ok(row !== undefined, `${client} is not in docs/clients.md`);
    assert.ok(row.includes(version), `${client} is in docs/clients.md, but not ${version}`);
  }
  const packages: { devDependencies: Record<string, string> } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  );
  for (const [, name = '', version] of document.matchAll(/^\| `([^`]+)` \| ([\d.]+) \| `test\/clients/gm)) {
    assert.equal(packages.devDependencies[name], version, name);
  }
});
