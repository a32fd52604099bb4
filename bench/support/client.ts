import { Agent, type IncomingMessage, request } from 'node:http';

/** The parameters of a request besides its address. */
export interface Asking {
  readonly token: string;
  readonly encoding?: 'gzip' | 'br' | 'zstd' | undefined;
}

/** A response whose body has been read to its end and discarded. */
export interface Answer {
  readonly bytes: number;
  /** The last bytes of the body, as text. */
  readonly tail: string;
}

/** A client that reuses its connections. */
export interface Client {
  get(address: string, asking: Asking): Promise<Answer>;
  /** The complete body, as it was sent. */
  read(address: string, asking: Asking): Promise<Buffer>;
  close(): void;
}

const TAIL = 1000;

export function makeClient(): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 100 });
  return {
    async get(address, asking) {
      const response = await ask(agent, address, asking);
      let bytes = 0;
      let before = Buffer.alloc(0);
      let last = Buffer.alloc(0);
      for await (const chunk of response) {
        bytes += chunk.length;
        before = last;
        last = chunk;
      }
      const end = last.length < TAIL ? Buffer.concat([before.subarray(-TAIL), last]) : last;
      return { bytes, tail: end.subarray(-TAIL).toString() };
    },
    async read(address, asking) {
      const chunks: Buffer[] = [];
      for await (const chunk of await ask(agent, address, asking)) chunks.push(chunk);
      return Buffer.concat(chunks);
    },
    close: () => agent.destroy(),
  };
}

function ask(agent: Agent, address: string, { token, encoding }: Asking): Promise<IncomingMessage> {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(encoding === undefined ? {} : { 'accept-encoding': encoding }),
  };
  return new Promise((resolve, reject) => {
    const asked = request(address, { agent, headers }, (response) => {
      if (response.statusCode === 200) resolve(response);
      else reject(new Error(`${address}: ${response.statusCode}`));
    });
    asked.on('error', reject);
    asked.end();
  });
}

/** The address of the next page from `@odata.nextLink`; undefined on the last one. */
export function nextLinkOf({ tail }: Answer): string | undefined {
  const link = /"@odata\.nextLink":("[^"]*")\}$/.exec(tail)?.[1];
  return link === undefined ? undefined : String(JSON.parse(link));
}

/** The token of the native interface for the next page. */
export function skipTokenOf({ tail }: Answer): string | undefined {
  const token = /,"SkipToken":("[^"]*")/.exec(tail)?.[1];
  return token === undefined ? undefined : String(JSON.parse(token));
}
