import { nearestName } from '../../../dictionary/index.ts';
import { platError } from '../../../errors/index.ts';
import { optionOf, SYSTEM_OPTIONS, type SystemOption } from './option-name.ts';
import { shown } from './source.ts';

/** The options of a query string, percent-decoded, each still as text. */
export interface RawOptions {
  readonly system: ReadonlyMap<SystemOption, string>;
  /** Parameter aliases by name, without the at sign. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Names of custom options, which have no meaning here. */
  readonly custom: readonly string[];
}

/**
 * Decodes a part of a URL.
 * @throws requestMalformed when a percent sign is not followed by two hexadecimal digits, or the bytes are not UTF-8.
 */
export function decodePart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    const reason = `the percent-encoding of ${JSON.stringify(shown(text))} is broken`;
    throw platError('requestMalformed', { reason }, { cause });
  }
}

const decodeQuery = (text: string): string => decodePart(text.replaceAll('+', ' '));

/**
 * Splits the text after the question mark into options (OData 4.01 URL conventions, 2 and 5): at `&`, then at the
 * first `=`, and only then decodes. System options may stand without dollar and in any case. An option without
 * value has the empty one.
 * @throws optionUnknown for a name with dollar that is no option; optionRepeated; requestMalformed
 */
export function parseQueryOptions(rawQuery: string): RawOptions {
  const system = new Map<SystemOption, string>();
  const aliases = new Map<string, string>();
  const custom: string[] = [];
  if (rawQuery.includes('#')) {
    throw platError('requestMalformed', { reason: 'the query holds "#", which must be written %23' });
  }
  for (const pair of rawQuery.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decodeQuery(equals === -1 ? pair : pair.slice(0, equals));
    const value = equals === -1 ? '' : decodeQuery(pair.slice(equals + 1));
    const option = optionOf(name, SYSTEM_OPTIONS);
    if (option !== undefined) put(system, option, value, `$${option}`);
    else if (name.startsWith('$')) throw unknown(name);
    else if (name.startsWith('@')) put(aliases, name.slice(1), value, name);
    else custom.push(name);
  }
  return { system, aliases, custom };
}

function put<K>(options: Map<K, string>, key: K, value: string, name: string): void {
  if (options.has(key)) throw platError('optionRepeated', { name }, { target: name });
  options.set(key, value);
}

function unknown(name: string) {
  const nearest = nearestName(name.slice(1), SYSTEM_OPTIONS);
  return platError(
    'optionUnknown',
    { name: shown(name), nearest: nearest && `$${nearest}` },
    { target: name },
  );
}
