/**
 * The value of `$skiptoken` and `_skiptoken` is the key behind which a page begins, as it is and without quotes: a key is a
 * text, and in quotes it would be another one. A key that has quotes around it has a second pair in its token.
 */
import { platError } from '../errors/index.ts';

const isQuoted = (text: string): boolean => /^'.*'$/s.test(text);

/** The token that leads behind a key. */
export const skipTokenOf = (key: string): string => (isQuoted(key) ? `'${key}'` : key);

/** The key behind which a token leads. @throws PlatError `optionInvalid` for a key in quotes */
export function keyOfSkipToken(option: '$skiptoken' | '_skiptoken', token: string): string {
  if (!isQuoted(token)) return token;
  const key = token.slice(1, -1);
  if (isQuoted(key)) return key;
  const facts = { name: option, value: token, expected: 'a token as it was given, without quotes' };
  throw platError('optionInvalid', facts, { target: option });
}
