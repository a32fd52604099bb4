/** Interprets the method of a request: a query in the URL or in the body. It must not know what is queried. */
import { platError } from '../../errors/index.ts';

/** The methods that a path allows, for the `Allow` header. */
export const ALLOWED = 'GET, HEAD, OPTIONS';
const ALLOWED_WITH_BODY = 'GET, HEAD, POST, OPTIONS';
const ALLOWED_QUERY = 'POST, OPTIONS';

const TAKES = 'GET and HEAD';

/** Matches the end of a path whose query options are in the body (OData 4.01 URL conventions, 4.17). */
const QUERY_PATH = /\/+(?:\$|%24)query\/*$/;

/** The meaning of a request, with its path without `/$query`. */
export type RequestMeaning =
  | { readonly kind: 'options'; readonly allow: string }
  | { readonly kind: 'read'; readonly path: string }
  /** The query options are in the body. */
  | { readonly kind: 'posted'; readonly path: string }
  | { readonly kind: 'refused'; readonly allow: string; readonly takes: string };

interface RequestLine {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** @param allowsPostedQuery whether the path belongs to an interface, whose queries may be too long for a URL */
export function meaningOf(
  { method, path, headers }: RequestLine,
  allowsPostedQuery: boolean,
): RequestMeaning {
  const asksInBody = allowsPostedQuery && QUERY_PATH.test(path);
  if (method === 'OPTIONS') {
    const allow = asksInBody ? ALLOWED_QUERY : allowsPostedQuery ? ALLOWED_WITH_BODY : ALLOWED;
    return { kind: 'options', allow };
  }
  if (asksInBody) {
    if (method === 'POST') return { kind: 'posted', path: path.replace(QUERY_PATH, '') };
    return { kind: 'refused', allow: ALLOWED_QUERY, takes: 'POST' };
  }
  if (method === 'GET' || method === 'HEAD') return { kind: 'read', path };
  const instead = headers['x-http-method-override']?.trim().toUpperCase();
  if (allowsPostedQuery && method === 'POST' && instead === 'GET') return { kind: 'posted', path };
  return { kind: 'refused', allow: ALLOWED, takes: TAKES };
}

export const methodNotAllowed = (method: string, takes = TAKES) =>
  platError('methodNotAllowed', { method, takes });
