import { readFile } from 'node:fs/promises';
import type { Exchange, Reply } from '../exchange.ts';
import { hasTag, weakTag } from '../http/etag.ts';
import type { DocumentName } from './paths.ts';

const FOLDER = new URL('../../../docs/', import.meta.url);

/** A document of the package, as text: browsers show it as it is. */
export async function documentReply({ headers }: Exchange, name: DocumentName): Promise<Reply> {
  const text = await readFile(new URL(name, FOLDER), 'utf8');
  const etag = weakTag(text);
  if (hasTag(headers['if-none-match'], etag)) return { status: 304, headers: { etag }, body: [] };
  return { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8', etag }, body: [text] };
}
