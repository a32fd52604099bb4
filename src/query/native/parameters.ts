/** The query string of a native request as its parameters, before any is understood. */

import { nearestName } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import { shortened } from './faults.ts';

export const PARAMETERS = [
  '_filter',
  '_orderby',
  '_select',
  '_expand',
  '_limit',
  '_skip',
  '_skiptoken',
  '_page',
  '_pagination',
  '_lat',
  '_lon',
  '_distance',
] as const;
export type ParameterName = (typeof PARAMETERS)[number];

export interface NativeParameters {
  readonly given: ReadonlyMap<ParameterName, string>;
  /** Parameters of names without `_`, in their order; the native interface has no use for them. */
  readonly others: readonly { readonly name: string; readonly value: string }[];
}

/** Another spelling in the specification's own text (4.3). */
const OTHER_SPELLINGS: ReadonlyMap<string, ParameterName> = new Map([['_$skip', '_skip']]);

/** A plus and `%20` are both a space. */
function decode(text: string, part: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    const reason = `the percent-encoding of ${part} is not valid UTF-8`;
    throw platError('requestMalformed', { reason }, { target: part });
  }
  // No text of a record holds this character, and not every store takes it.
  if (decoded.includes('\u0000')) {
    throw platError('requestMalformed', { reason: `${part} holds a NUL character` }, { target: part });
  }
  return decoded;
}

const known = (name: string): ParameterName | undefined =>
  PARAMETERS.find((parameter) => parameter === name) ?? OTHER_SPELLINGS.get(name);

/**
 * Reads a query string, without its question mark.
 * @throws PlatError `requestMalformed`; `optionUnknown` for a name that begins with `_` and is not known, since a
 *   client that pages with it would never end; `optionRepeated`
 */
export function parseParameters(query: string): NativeParameters {
  const given = new Map<ParameterName, string>();
  const others: { name: string; value: string }[] = [];
  for (const part of query.split('&')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = decode(equals < 0 ? part : part.slice(0, equals), 'a parameter name');
    const value = equals < 0 ? '' : decode(part.slice(equals + 1), shortened(name));
    const parameter = known(name);
    if (parameter === undefined) {
      if (name.startsWith('_')) {
        throw platError(
          'optionUnknown',
          { name: shortened(name), nearest: nearestName(name, PARAMETERS) },
          { target: shortened(name) },
        );
      }
      others.push({ name, value });
    } else if (given.has(parameter)) {
      throw platError('optionRepeated', { name: parameter }, { target: parameter });
    } else {
      given.set(parameter, value);
    }
  }
  return { given, others };
}
