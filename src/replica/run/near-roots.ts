/**
 * What a person may have meant by an address at which there is no service: the roots that services usually have, near to
 * the one that was given. They are asked with the same token, so they are all of its origin. It changes nothing.
 */
import { type PlatError, platError } from '../../errors/index.ts';
import { isObject } from '../../shared/json.ts';
import type { SourceClient } from '../http/client.ts';
import { RequestFailure } from '../http/failure.ts';
import type { ReplicateOptions } from './options.ts';

type Kind = ReplicateOptions['interface'];

/** What a root ends in, in the order of how usual it is. */
const ENDINGS: Readonly<Record<Kind, readonly string[]>> = {
  reso: ['Reso/OData/', 'odata/', 'OData/', 'reso/odata/'],
  native: ['v1/'],
};
/** What a service of each kind gives to every key. */
const ASKED: Readonly<Record<Kind, string>> = { reso: 'Property?$top=1', native: 'listings?_limit=1' };

/** The usual roots at an address and above it, nearest first; not the address itself. */
export function nearRoots(root: URL, kind: Kind): string[] {
  const parts = root.pathname.split('/').filter((part) => part !== '');
  const above = parts.map((_, at) => `/${parts.slice(0, parts.length - at).join('/')}/`);
  const bases = [...above, '/'];
  const paths = bases.flatMap((base, at) => [
    // Somebody copied the address of a record, or of a collection.
    ...(at > 0 && base !== '/' ? [base] : []),
    ...(at < 2 || base === '/' ? ENDINGS[kind].map((ending) => `${base}${ending}`) : []),
  ]);
  return [...new Set(paths)].filter((path) => path !== root.pathname).map((path) => `${root.origin}${path}`);
}

/** Whether a request is answered as a service would. */
async function answers(
  client: SourceClient,
  url: string,
  isRight: (text: string) => boolean,
): Promise<boolean> {
  try {
    return await client.get(url, ({ text }) => isRight(text), { attempts: 1 });
  } catch (error) {
    if (error instanceof RequestFailure && error.kind !== 'stopped') return false;
    throw error;
  }
}

const answersAt = (client: SourceClient, root: string, kind: Kind): Promise<boolean> =>
  answers(client, `${root}${ASKED[kind]}`, (text) => hasRows(text, kind));

function hasRows(text: string, kind: Kind): boolean {
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value)) return false;
    return Array.isArray(kind === 'reso' ? value.value : isObject(value.D) ? value.D.Results : undefined);
  } catch {
    return false;
  }
}

/**
 * What to say of a source that answered 404 to its first requests, or 400, as it does where `--from` names a resource:
 * what is behind that is taken for a key.
 * @returns wrong use that names the root, where one of the usual roots answers; else the same failure, and what a root is
 */
export async function missingRoot(
  failure: RequestFailure,
  root: URL,
  kind: Kind,
  client: SourceClient,
): Promise<PlatError | RequestFailure> {
  // The root is right, and something behind it is not there.
  const isMetadata = (text: string): boolean => /<(?:\w+:)?Edmx\b/.test(text);
  if (kind === 'reso' && (await answers(client, `${root.href}$metadata`, isMetadata))) return failure;
  const other = kind === 'reso' ? 'native' : 'reso';
  const tried = nearRoots(root, kind);
  for (const each of tried) {
    if (await answersAt(client, each, kind)) return wrong(root, failure, `--from ${each} is one`);
  }
  for (const each of [root.href, ...nearRoots(root, other)]) {
    if (await answersAt(client, each, other))
      return wrong(root, failure, `--from ${each} is one of the ${other} interface (--interface ${other})`);
  }
  if (failure.status !== 404) return failure;
  const usual = ENDINGS[kind]
    .map((ending) => `/${ending.slice(0, -1)}`)
    .slice(0, 2)
    .join(' or ');
  return new RequestFailure(
    failure.kind,
    `${failure.message}; there is no service of the ${kind} interface at ${root.href}: its root usually ends in ${usual}, and none of ${tried.join(', ')} answers`,
    { status: 404, cause: failure },
  );
}

const wrong = (root: URL, { status }: RequestFailure, right: string): PlatError =>
  platError('usage', { reason: `${root.href} is no root of a service (${status}); ${right}.` });
