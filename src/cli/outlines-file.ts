/** The outlines on the console's map: those of the configuration, or else of a demo market. */
import { readFileSync, statSync } from 'node:fs';
import { PlatError, usageError } from '../errors/index.ts';
import { NO_OUTLINES, type Outlines, outlinesIn } from '../service/console/outlines.ts';
import { tryParseJson } from '../shared/json.ts';
import type { Store } from '../store/store.ts';
import type { ConfigFile } from './config.ts';
import { mustBeFile } from './options.ts';

/** The maximum size of the file in megabytes: a browser, perhaps on a phone, draws the whole file. */
const MOST_MEGABYTES = 2;

/** @throws PlatError `usage` if the configured file is not valid */
export async function consoleOutlines(store: Pick<Store, 'model'>, config: ConfigFile): Promise<Outlines> {
  const { console: { outlines: file } = {} } = config;
  if (file !== undefined) return readOutlines(file);
  const { settings } = await store.model();
  if (settings.market === undefined) return NO_OUTLINES;
  // Loaded on demand, so that other services start without it.
  const { marketOutlines } = await import('plat-demo');
  return marketOutlines();
}

function readOutlines(file: string): Outlines {
  const refused = (why: string, cause?: unknown) => usageError(`The outlines ${file} ${why}.`, { cause });
  mustBeFile(file);
  if (statSync(file).size > MOST_MEGABYTES * 1024 * 1024) {
    throw refused(`have more than ${MOST_MEGABYTES} MB`);
  }
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw refused('cannot be read', cause);
  }
  const json = tryParseJson(text.replace(/^\uFEFF/, ''));
  if (json === undefined) throw refused('are not JSON');
  try {
    return outlinesIn(json);
  } catch (cause) {
    if (!(cause instanceof PlatError)) throw cause;
    throw refused(`cannot be drawn: ${cause.message}`, cause);
  }
}
