import type { Random } from 'plat-demo';
import type { Transport, TransportRequest, TransportResponse } from '../../../src/replica/http/transport.ts';
import type { RequestWitness } from './request-witness.ts';
import { type Ask, ORIGIN, type ServedAnswer, TOKEN } from './serve.ts';
import type { VirtualTime } from './time.ts';
import { CREDENTIALS, type TokenIssuer } from './tokens.ts';

export interface NetworkOptions {
  readonly ask: Ask;
  /** The stream of the source's changes, from its beginning on. */
  readonly stream: (url: string, signal: AbortSignal) => Promise<TransportResponse>;
  /** Issues the tokens of requests and checks them; absent: the source accepts one token for ever. */
  readonly issuer: TokenIssuer | undefined;
  readonly time: VirtualTime;
  readonly random: Random;
  readonly witness: RequestWitness;
  readonly log: (line: string) => void;
  readonly latency: number;
  /** The most frequent fault. */
  readonly trouble: Fault | undefined;
}

export const FAULTS = [
  ['no-connection', 2],
  ['reset-before-head', 3],
  ['head-timeout', 1],
  ['body-timeout', 1],
  ['cut', 3],
  ['cut-without-length', 2],
  ['ended-early', 2],
  ['too-many-requests', 3],
  ['server-error', 4],
  ['html', 1],
  ['row-twice', 2],
  ['page-twice', 2],
  ['slow', 3],
  ['elsewhere', 0.3],
] as const;
export type Fault = (typeof FAULTS)[number][0];

/** The number of different latencies. */
const LATENCIES = 800;
const OUTAGE = 600_000;
const DAY = 86_400_000;

/** The network between the consumer and the service: latency and faults. */
export class Network {
  /** The share of requests that fail, from 0 to 1. */
  faults = 0;
  readonly #options: NetworkOptions;
  #outage: { readonly fault: Fault; readonly until: number } | undefined;
  #previous: { readonly walk: string; readonly answer: ServedAnswer } | undefined;

  constructor(options: NetworkOptions) {
    this.#options = options;
  }

  /** @param process its name in the log */
  transport(process: string): Transport {
    return (sent) => this.#exchange(process, sent);
  }

  async #exchange(process: string, sent: TransportRequest): Promise<TransportResponse> {
    const { time, random, witness, log, issuer } = this.#options;
    const fault = this.#drawFault();
    const isForToken = sent.url === CREDENTIALS.tokenUrl;
    const line = isForToken ? 'asks for a token' : `GET ${sent.url.slice(ORIGIN.length)}`;
    log(`${process}: ${line}${fault === undefined ? '' : ` (${fault})`}`);
    witness.asked(process, sent);
    await this.#delay();
    if (fault === 'no-connection') throw failure('ECONNREFUSED');
    const refused = fault === undefined ? undefined : this.#refusal(fault);
    if (refused !== undefined) {
      if (refused.headers['retry-after'] !== undefined && refused.status === 429 && !isForToken)
        witness.throttled(process, Number(refused.headers['retry-after']));
      return refused;
    }
    if (fault === 'slow') await time.sleep(random.integer(5, 50) * 1000);
    const isStream = sent.headers.accept === 'text/event-stream';
    if (isStream && issuer?.rejection(sent) === undefined) return this.#stream(sent, fault);
    const answer = await this.#serve(sent);
    await this.#delay();
    if (fault === 'reset-before-head') throw failure('ECONNRESET');
    if (fault === 'head-timeout') {
      await time.sleep(sent.timeout);
      throw failure('UND_ERR_HEADERS_TIMEOUT');
    }
    const { response, isWhole } = this.#deliver(sent, fault, answer);
    if (isWhole) witness.delivered(process, sent, answer.status);
    return response;
  }

  /** Waits for half of a latency. */
  #delay(): Promise<void> {
    const { latency, random, time } = this.#options;
    return time.sleep((random.integer(1, LATENCIES) * latency) / LATENCIES / 2);
  }

  /** The response of the token endpoint, or of the source. */
  async #serve(sent: TransportRequest): Promise<ServedAnswer> {
    const { ask, issuer } = this.#options;
    if (issuer === undefined) return ask(sent.url, sent.headers);
    if (sent.url === CREDENTIALS.tokenUrl) return issuer.issue(sent);
    return issuer.rejection(sent) ?? ask(sent.url, { ...sent.headers, authorization: `Bearer ${TOKEN}` });
  }

  /** A stream that may be cut, or stop sending, at any time. */
  async #stream(sent: TransportRequest, fault: Fault | undefined): Promise<TransportResponse> {
    const { stream, time, random } = this.#options;
    const delay = (): Promise<void> => this.#delay();
    const left = new AbortController();
    const response = await stream(sent.url, AbortSignal.any([sent.signal, left.signal]));
    if (fault === 'reset-before-head') throw failure('ECONNRESET');
    const isCut = fault !== undefined || (this.faults > 0 && random.chance(0.3));
    const pieces = isCut ? random.integer(0, 20) : Number.POSITIVE_INFINITY;
    const falls = fault === 'body-timeout' || fault === 'slow' || random.chance(0.1) ? 'silent' : 'cut';
    async function* body(): AsyncGenerator<Uint8Array> {
      let given = 0;
      try {
        for await (const piece of response.body) {
          await delay();
          if (given++ >= pieces) {
            yield piece.subarray(0, random.integer(0, piece.length));
            if (falls === 'silent') await time.sleep(DAY, sent.signal);
            throw failure('ECONNRESET');
          }
          yield piece;
        }
      } finally {
        left.abort();
      }
    }
    return { ...response, body: body() };
  }

  #drawFault(): Fault | undefined {
    const { random, time, trouble } = this.#options;
    if (this.faults === 0) return undefined;
    if (this.#outage !== undefined && time.now < this.#outage.until) return this.#outage.fault;
    if (!random.chance(this.faults)) return undefined;
    const drawn = random.weighted(FAULTS);
    const fault = trouble !== undefined && random.chance(0.5) ? trouble : drawn;
    const lasts = !['row-twice', 'page-twice', 'elsewhere'].includes(fault) && random.chance(0.15);
    if (lasts) this.#outage = { fault, until: time.now + random.integer(1000, OUTAGE) };
    return fault;
  }

  /** A response that does not come from the service. */
  #refusal(fault: Fault): TransportResponse | undefined {
    const { random, time } = this.#options;
    const seconds = random.integer(1, 120);
    const wait: Record<string, string> = random.chance(0.5) ? { 'retry-after': String(seconds) } : {};
    switch (fault) {
      case 'too-many-requests':
        return plain(429, 'Slow down', wait);
      case 'server-error': {
        const date: Record<string, string> = { date: new Date(time.now).toUTCString() };
        return plain(random.pick([500, 502, 503, 504]), 'Not now', { ...wait, ...date });
      }
      case 'html': {
        // A server that responds in place of the service has a clock of its own.
        const date = new Date(time.now + random.integer(-2, 2) * 3_600_000).toUTCString();
        const headers = { 'content-type': 'text/html', ...(random.chance(0.5) ? { date } : {}) };
        return plain(200, '<html><body>We are back soon</body></html>', headers);
      }
      case 'elsewhere':
        return plain(302, '', { location: 'http://elsewhere.test/Reso/OData/Property' });
      default:
        return undefined;
    }
  }

  #deliver(
    { url }: TransportRequest,
    fault: Fault | undefined,
    answer: ServedAnswer,
  ): { response: TransportResponse; isWhole: boolean } {
    const { random } = this.#options;
    const { status, headers, body } = answer;
    const walk = walkOf(url);
    const before = this.#previous;
    this.#previous = walk === undefined ? undefined : { walk, answer };
    const cut = body.subarray(0, random.integer(0, Math.max(0, body.length - 1)));
    const { 'content-length': _, ...chunked } = headers;
    const give = (
      given: Buffer,
      error?: string,
      head = headers,
    ): { response: TransportResponse; isWhole: boolean } => ({
      response: { status, headers: head, body: pieces(given, error) },
      isWhole: given === body && error === undefined,
    });
    switch (fault) {
      case 'cut':
        return give(cut, 'ECONNRESET');
      case 'body-timeout':
        return give(cut, 'UND_ERR_BODY_TIMEOUT');
      case 'ended-early':
        return give(cut);
      case 'cut-without-length':
        return give(cut, undefined, chunked);
      case 'row-twice':
        return give(withRowTwice(body, random), undefined, chunked);
      case 'page-twice':
        if (before?.walk === walk && isLaterPage(url) && rowsOf(before?.answer.body).length > 1)
          return give(before?.answer.body ?? body, undefined, chunked);
        return give(body);
      default:
        return give(body);
    }
  }
}

const failure = (code: string): Error => Object.assign(new Error('The network failed'), { code });

function plain(status: number, text: string, headers: Record<string, string>): TransportResponse {
  return { status, headers, body: pieces(Buffer.from(text)) };
}

async function* pieces(body: Buffer, error?: string): AsyncGenerator<Uint8Array> {
  const middle = body.length >> 1;
  for (const piece of [body.subarray(0, middle), body.subarray(middle)]) if (piece.length > 0) yield piece;
  if (error !== undefined) throw failure(error);
}

/** What all pages of a walk have in common; undefined for a request that is not a page. */
export function walkOf(url: string): string | undefined {
  const { pathname, searchParams } = new URL(url);
  if (!/\/(?:Property|Member|Office|listings|accounts)$/.test(pathname)) return undefined;
  for (const name of ['$skiptoken', '_skiptoken', '$skip', '_skip', '$top', '_limit'])
    searchParams.delete(name);
  return `${pathname}?${searchParams}`;
}

/** Whether a page is not the first of its walk. */
export function isLaterPage(url: string): boolean {
  const { searchParams } = new URL(url);
  const place = ['$skiptoken', '_skiptoken', '$skip', '_skip'].map((name) => searchParams.get(name));
  return place.some((value) => value !== null && value !== '' && value !== '0');
}

interface AnyPage {
  value?: unknown[];
  D?: { Results?: unknown[] };
}

function pageOf(body: Buffer | undefined): AnyPage {
  try {
    return JSON.parse(String(body));
  } catch {
    return {}; // metadata is XML
  }
}

function rowsOf(body: Buffer | undefined): unknown[] {
  const page = pageOf(body);
  return page.value ?? page.D?.Results ?? [];
}

function withRowTwice(body: Buffer, random: Random): Buffer {
  const page = pageOf(body);
  const rows = page.value ?? page.D?.Results;
  if (rows === undefined || rows.length === 0) return body;
  rows.splice(random.integer(0, rows.length), 0, random.pick(rows));
  return Buffer.from(JSON.stringify(page));
}
