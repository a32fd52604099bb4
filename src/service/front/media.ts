/** Serves files at `/media/…`. It must not know where the files come from. */
import { timingSafeEqual } from 'node:crypto';
import { platError } from '../../errors/index.ts';
import { fileSignature } from '../../store/files/file-signature.ts';
import type { Store } from '../../store/store.ts';
import type { Exchange, Reply } from '../exchange.ts';
import type { FileSource, ServedFile } from '../options.ts';
import { clientHasVersion, rangeOf, weakTag } from '../reply/conditions.ts';
import { resoError } from '../reply/errors.ts';
import { isCompressible } from '../reply/send.ts';

export interface FileContext {
  readonly store: Store;
  readonly files: readonly FileSource[];
}

const SIGNATURE = /^([a-z0-9_-]+)\.(\d{1,12})\.([0-9a-f]{32})$/;

/**
 * A file of this service: `/media/<signature>/<path>`, which needs no key. The signature covers one file and one role for a limited
 * time; the file is served as long as the role sees a media record that refers to it.
 *
 * @param path below `/media/`, percent-encoded
 * @param now milliseconds since 1970
 * @throws PlatError 404 in every other case, without the reason
 */
export async function servedFile(
  context: FileContext,
  exchange: Exchange,
  path: string,
  now: number,
): Promise<Reply> {
  const missing = platError('pathNotFound', { path: exchange.path });
  const slash = path.indexOf('/');
  const signature = SIGNATURE.exec(path.slice(0, slash));
  const file = decodePath(path.slice(slash + 1));
  if (slash < 0 || signature === null || file === undefined) throw missing;
  const [sentSignature, role = '', expires = ''] = signature;
  const expectedSignature = fileSignature(context.store.secret, role, Number(expires), file);
  if (!isEqual(sentSignature, expectedSignature) || Number(expires) * 1000 <= now) throw missing;
  if (!(await context.store.showsFile(file, role))) throw missing;
  const options = { ...widthIn(exchange.query), caller: exchange.account };
  for (const source of context.files) {
    const found = await source.open(file, options);
    if (found === undefined) continue;
    // If the version is known, the content need not be produced for a client that already has it.
    const weak = weakTag(found.version ?? (await bodyOf(found)));
    // The compressed and the plain form of the content share a tag, so it must be weak.
    const etag = isCompressible(found.type) ? weak : weak.slice(2);
    const headers = {
      etag,
      'accept-ranges': 'bytes',
      'content-security-policy': policyOf(found.type),
    };
    if (clientHasVersion(exchange.headers, etag)) return { status: 304, headers, body: [] };
    return fileReply(exchange, await bodyOf(found), { ...headers, 'content-type': found.type });
  }
  throw missing;
}

/**
 * The content security policy of a file that a person opens directly, on the origin of this service: it may only be displayed. A
 * PDF has no sandbox, because browsers refuse to show a sandboxed PDF; their viewers isolate its scripts from the page.
 */
const policyOf = (type: string): string =>
  `${type === 'application/pdf' ? '' : 'sandbox; '}default-src 'none'; style-src 'unsafe-inline'`;

async function bodyOf({ body }: ServedFile): Promise<Uint8Array> {
  const made = typeof body === 'function' ? await body() : body;
  return typeof made === 'string' ? Buffer.from(made) : made;
}

/** The response with the file, or with the part of it that the client requests. */
function fileReply(
  { method, headers: asked }: Exchange,
  body: Uint8Array,
  headers: Readonly<Record<string, string>> & { readonly etag: string },
): Reply {
  const range = method === 'GET' ? rangeOf(asked, body.length, headers.etag) : ({ kind: 'whole' } as const);
  switch (range.kind) {
    case 'whole':
      return { status: 200, headers, body: [body] };
    case 'part': {
      const { first, last } = range;
      const place = { 'content-range': `bytes ${first}-${last}/${body.length}` };
      return { status: 206, headers: { ...headers, ...place }, body: [body.subarray(first, last + 1)] };
    }
    case 'outside': {
      const place = { 'accept-ranges': 'bytes', 'content-range': `bytes */${body.length}` };
      return resoError(platError('rangeOutside', { size: body.length }), place);
    }
  }
}

/** The width at which an image will be shown, from the query; invalid values are ignored. */
function widthIn(query: string): { readonly width?: number } {
  const text = new URLSearchParams(query).get('width') ?? '';
  return /^[1-9]\d{0,3}$/.test(text) ? { width: Number(text) } : {};
}

function decodePath(path: string): string | undefined {
  try {
    const decoded = decodeURIComponent(path);
    const inside = !decoded.split('/').some((part) => part === '' || part === '.' || part === '..');
    return inside && !decoded.includes('\\') ? decoded : undefined;
  } catch {
    return undefined;
  }
}

function isEqual(left: string, right: string): boolean {
  return left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right));
}
