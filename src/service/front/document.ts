import { readFile } from 'node:fs/promises';
import type { Exchange, Reply } from '../exchange.ts';
import { hasTag, weakTag } from '../http/etag.ts';
import type { DocumentName } from './paths.ts';

const FOLDER = new URL('../../../docs/', import.meta.url);

/** Texts that were read, of which there are a few: strangers may ask for them as often as they like. */
const texts = new Map<DocumentName, Promise<string>>();

function textOf(name: DocumentName): Promise<string> {
  const known = texts.get(name);
  if (known !== undefined) return known;
  const read = readFile(new URL(name, FOLDER), 'utf8');
  texts.set(name, read);
  read.catch(() => texts.delete(name));
  return read;
}

/** A document of the package, as text: browsers show it as it is. */
export async function documentReply({ headers }: Exchange, name: DocumentName): Promise<Reply> {
  const text = await textOf(name);
  const etag = weakTag(text);
  if (hasTag(headers['if-none-match'], etag)) return { status: 304, headers: { etag }, body: [] };
  return { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8', etag }, body: [text] };
}
