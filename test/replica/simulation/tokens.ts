import type { Random } from 'plat-demo';
import { type ClientCredentials, clientCredentials } from '../../../src/replica/http/client-credentials.ts';
import type { TokenSource } from '../../../src/replica/http/token-source.ts';
import type { TransportRequest } from '../../../src/replica/http/transport.ts';
import type { ServedAnswer } from './serve.ts';
import type { VirtualTime } from './time.ts';

export const CREDENTIALS = {
  tokenUrl: 'https://tokens.test/connect/token',
  clientId: 'simulation',
  clientSecret: 'the-secret-of-the-client',
} as const satisfies ClientCredentials;

/** No token is revoked earlier: a request is repeated only once. Milliseconds. */
const LEAST = 75_000;

/** A token endpoint: its tokens expire, and some are revoked before that. */
export class TokenIssuer {
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #lifetime: number;
  /** When each token ends. */
  readonly #ends = new Map<string, number>();

  /** @param lifetime milliseconds */
  constructor(time: VirtualTime, random: Random, lifetime: number) {
    this.#time = time;
    this.#random = random;
    this.#lifetime = lifetime;
  }

  issue({ headers, body = '' }: TransportRequest): ServedAnswer {
    const { clientId, clientSecret } = CREDENTIALS;
    const basic = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
    const isKnown = headers.authorization === basic && body === 'grant_type=client_credentials';
    if (!isKnown) return this.#answer(401, { error: 'invalid_client' });
    const token = `token-${this.#ends.size + 1}`;
    const isRevoked = this.#random.chance(0.3);
    const lifetime = isRevoked ? this.#random.integer(LEAST, this.#lifetime) : this.#lifetime;
    this.#ends.set(token, this.#time.now + lifetime);
    const isStated = this.#random.chance(0.8);
    return this.#answer(200, {
      access_token: token,
      token_type: 'Bearer',
      ...(isStated ? { expires_in: this.#lifetime / 1000 } : {}),
    });
  }

  /** The response to a request whose token is not valid now; undefined if it is. */
  rejection({ headers }: TransportRequest): ServedAnswer | undefined {
    const end = this.#ends.get(headers.authorization?.replace('Bearer ', '') ?? '') ?? 0;
    return this.#time.now < end
      ? undefined
      : this.#answer(401, { error: { message: 'The token has expired' } });
  }

  #answer(status: number, value: unknown): ServedAnswer {
    const body = Buffer.from(JSON.stringify(value));
    return { status, headers: { 'content-length': String(body.length) }, body };
  }
}

/** The first token of a client, which is never renewed. */
export function withoutRenewal(): TokenSource {
  const issued = clientCredentials(CREDENTIALS);
  let first: Promise<string> | undefined;
  return {
    identity: issued.identity,
    current: (context) => (first ??= issued.current(context)),
    replace: async () => false,
    noteUseless: () => undefined,
  };
}
