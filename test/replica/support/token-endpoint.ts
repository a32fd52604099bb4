/** A token endpoint on loopback that issues tokens to one client, and checks those that requests contain. */
import type { Scope } from '../../support/engine.ts';
import { json, type Loopback, listen, type Reply, type Seen } from './loopback.ts';

/** A request for a token, as the endpoint saw it. */
export interface TokenRequest {
  readonly authorization: string | undefined;
  readonly fields: Readonly<Record<string, string>>;
}

export interface TokenEndpoint extends Loopback {
  readonly url: string;
  readonly requests: TokenRequest[];
  /** The members of the next responses, besides the token. */
  facts: Readonly<Record<string, unknown>>;
  /** Returns a response that replaces the usual one, or undefined. */
  intercept: (request: TokenRequest, count: number) => Reply | undefined | Promise<Reply | undefined>;
  /** The tokens that a source accepts; a test takes some out. All that are issued are added. */
  readonly valid: Set<string>;
  /** The response of a source to a request whose token is not valid. */
  rejects(seen: Seen): Reply | undefined;
}

export const CLIENT = { clientId: 'plat', clientSecret: 'a&b=c+d/e%~ f' } as const;

/** The form in which both parts of the client stand in the header Authorization. */
export const BASIC = `Basic ${Buffer.from('plat:a%26b%3Dc%2Bd%2Fe%25%7E+f').toString('base64')}`;

/** @param authentication the only method by which the client may authenticate itself */
export async function tokenEndpoint(
  scope: Scope,
  authentication: 'basic' | 'post' = 'basic',
): Promise<TokenEndpoint> {
  const requests: TokenRequest[] = [];
  const valid = new Set<string>();
  let issued = 0;
  const server = await listen(scope, async (seen) => {
    const fields = Object.fromEntries(new URLSearchParams(await seen.body()));
    const request = { authorization: seen.headers.authorization, fields };
    requests.push(request);
    const given = await endpoint.intercept(request, requests.length);
    if (given !== undefined) return given;
    const isKnown =
      authentication === 'basic'
        ? request.authorization === BASIC
        : fields.client_id === CLIENT.clientId && fields.client_secret === CLIENT.clientSecret;
    if (seen.method !== 'POST' || fields.grant_type !== 'client_credentials' || !isKnown) {
      return json({ error: 'invalid_client', error_description: 'Who are you?' }, { status: 401 });
    }
    const token = `issued-${++issued}`;
    valid.add(token);
    return json({ access_token: token, token_type: 'Bearer', ...endpoint.facts });
  });
  const endpoint: TokenEndpoint = {
    ...server,
    url: `${server.origin}/connect/token`,
    requests,
    facts: { expires_in: 3600 },
    intercept: () => undefined,
    valid,
    rejects: ({ headers }) => {
      const [, token = ''] = /^Bearer (.*)$/.exec(headers.authorization ?? '') ?? [];
      return valid.has(token) ? undefined : { status: 401, body: `The token ${token} has expired` };
    },
  };
  return endpoint;
}
