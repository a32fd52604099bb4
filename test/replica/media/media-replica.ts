/** A feed, a replica of it with files, and a host of pictures whose responses a test chooses. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import type { Transport, TransportRequest, TransportResponse } from '../../../src/replica/http/transport.ts';
import type { ServiceOptions } from '../../../src/service/options.ts';
import { platFeed } from '../support/plat-source.ts';

type Answer =
  | string
  | number
  | Error
  | ((request: TransportRequest) => TransportResponse | Promise<TransportResponse>);

export interface MediaHost {
  /** The response for each URL: an error, the text of a file, or a function. */
  readonly files: Map<string, Answer>;
  /** Every requested URL, and the token that was sent with it. */
  readonly asked: { readonly url: string; readonly token: string | undefined }[];
  readonly between: (transport: Transport) => Transport;
}

/** A host of pictures; all other requests go to the network. */
export function mediaHost(): MediaHost {
  const files = new Map<string, Answer>();
  const asked: { url: string; token: string | undefined }[] = [];
  const answer = (found: string | number | undefined): TransportResponse =>
    typeof found === 'string'
      ? { status: 200, headers: { 'content-type': 'image/jpeg' }, body: bytes(found) }
      : { status: found ?? 404, headers: {}, body: bytes('no such file') };
  return {
    files,
    asked,
    between: (transport) => async (request) => {
      const { host } = new URL(request.url);
      if (!host.endsWith('.example')) return transport(request);
      asked.push({ url: request.url, token: request.headers.authorization });
      const found = files.get(request.url);
      if (found instanceof Error) throw found;
      if (typeof found === 'function') return found(request);
      return answer(found);
    },
  };
}

export async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
export const url = (name: string): string => `https://images.example/${name}.jpg`;

export async function mediaReplica(t: TestContext, service: Partial<ServiceOptions> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'plat-media-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const host = mediaHost();
  const feed = await platFeed(t, { service });
  const replica = await feed.replica(t, 'reso', { resources: ['Property'], between: host.between });
  const run = async (request = {}) => {
    host.asked.length = 0;
    return replica.replicate({ mediaFolder: folder, ...request });
  };
  const rows = (): Record<string, unknown>[] => {
    const index = new DatabaseSync(join(folder, 'index.db'), { readOnly: true });
    const found = index
      .prepare('SELECT media_key, sha256, failures, reason FROM files ORDER BY media_key')
      .all();
    index.close();
    return found.map((row) => ({ ...row }));
  };
  const files = (): string[] =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.jpeg'))
      .toSorted();
  const fileOf = (text: string): string => join(sha256(text).slice(0, 2), `${sha256(text)}.jpeg`);
  return { folder, host, feed, replica, run, rows, files, fileOf };
}
