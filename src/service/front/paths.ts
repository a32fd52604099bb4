/**
 * What a surface serves without a token: a landing page, the description of its interfaces, and documents. It must not know what is
 * stored.
 */
import { readFile } from 'node:fs/promises';
import type { Exchange, Reply } from '../exchange.ts';
import { chooseType } from '../http/negotiation.ts';
import { replyOrNotModified, weakTag } from '../reply/conditions.ts';

interface FrontPath {
  readonly path: string;
  /** The summary in the OpenAPI description. */
  readonly summary: string;
  readonly type: string;
}

export const DOCUMENT_PATH = '/documents/{name}';

export const FRONT_PATHS: readonly FrontPath[] = [
  {
    path: '/',
    summary: 'Retrieve the home page as HTML; 404 for clients that do not accept HTML',
    type: 'text/html',
  },
  { path: '/openapi.json', summary: 'Retrieve this description', type: 'application/json' },
  {
    path: DOCUMENT_PATH,
    summary: 'Retrieve a document that explains an interface',
    type: 'text/plain',
  },
];

const FOLDER_PATH = '/documents/';

/** The documents for users of the interfaces. */
export const DOCUMENTS = [
  'odata.md',
  'native.md',
  'native-filter.md',
  'dictionary.md',
  'errors.md',
  'clients.md',
  'changes.md',
  'webhooks.md',
  'replication.md',
  'roles.md',
] as const;
type DocumentName = (typeof DOCUMENTS)[number];

export type Front =
  | { readonly kind: 'greeting' | 'description' }
  | { readonly kind: 'document'; readonly name: DocumentName };

/** Whether a client wants an HTML page. Browsers list HTML explicitly; a client that accepts any type is considered a program. */
const wantsPage = (accept: string | undefined): boolean =>
  accept !== undefined &&
  /text\/html/i.test(accept) &&
  chooseType(accept, ['text/html', 'application/json']) === 'text/html';

/** The part of the front that a request is for, if any. */
export function frontOf(path: string, accept: string | undefined): Front | undefined {
  if (path === '/') return wantsPage(accept) ? { kind: 'greeting' } : undefined;
  if (path === '/openapi.json') return { kind: 'description' };
  if (!path.startsWith(FOLDER_PATH)) return undefined;
  const name = DOCUMENTS.find((each) => path === FOLDER_PATH + each);
  return name === undefined ? undefined : { kind: 'document', name };
}

/** The link to the description of a surface (RFC 8631). */
export const describedBy = (base: string): { readonly link: string } => ({
  link: `<${base}/openapi.json>; rel="service-desc"; type="application/json"`,
});

const FOLDER = new URL('../../../docs/', import.meta.url);

/** Documents that have been read. They are few, and anyone may request them any number of times. */
const texts = new Map<DocumentName, Promise<string>>();

const documentText = (name: DocumentName): Promise<string> =>
  texts.getOrInsertComputed(name, () => {
    const read = readFile(new URL(name, FOLDER), 'utf8');
    read.catch(() => texts.delete(name));
    return read;
  });

/** A document of the package, as plain text, which every browser displays. */
export async function documentReply({ headers }: Exchange, name: DocumentName): Promise<Reply> {
  const text = await documentText(name);
  const etag = weakTag(text);
  return replyOrNotModified(headers, {
    status: 200,
    headers: { 'content-type': 'text/plain; charset=utf-8', etag },
    body: [text],
  });
}
