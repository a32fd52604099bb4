/** Digests and ranges of records in key order, which only a plat source returns. */
import { skipTokenOf } from '../../../query/skip-token.ts';
import { isObject } from '../../../shared/json.ts';
import { DIGEST_FORM } from '../../../store/digest.ts';
import { RequestFailure } from '../../http/failure.ts';
import { withRecordsOneByOne } from '../pages.ts';
import type { SourceOptions } from '../response.ts';
import type { SourceDigest, SourcePage, SourceRanges } from '../source.ts';
import { nextLinkOf, readList } from './lists.ts';
import type { ResoRecords } from './records.ts';
import { withOptions } from './urls.ts';

/** The requests in key order that only a plat source supports. */
export function platRanges(
  { client, root }: Pick<SourceOptions, 'client' | 'root'>,
  records: ResoRecords,
  readOne: (name: string, key: string) => Promise<SourcePage>,
): SourceRanges {
  const urlAfter = (path: string, shape: readonly string[], key: string, size: number): string => {
    const skip = key === '' ? [] : [`$skiptoken=${skipTokenOf(key)}`];
    return withOptions(`${root}${path}`, [`$top=${size}`, ...shape, ...skip]);
  };
  return {
    async digests(name, key, size) {
      const url = urlAfter(`${name}/$digests`, records.expand(name), key, size);
      const list = await client.get(url, readList);
      const { page, values } = list;
      if (page.Form !== DIGEST_FORM) {
        throw new RequestFailure('rejected', 'The source returned digests in another format');
      }
      return { ranges: values.map(digestOf), more: nextLinkOf(list, root) !== undefined };
    },
    async recordsAfter(name, key, size, apart = false) {
      const url = urlAfter(name, apart ? [records.selectKey(name)] : records.expand(name), key, size);
      const headers = { prefer: 'omit-values=nulls' };
      const { values, facts } = await client.get(url, readList, { headers });
      if (!apart) return records.pageOf(name, values, facts);
      const page = { ...records.pageOf(name, [], facts), keys: records.keysOf(name, values) };
      return withRecordsOneByOne(name, page, (key) => readOne(name, key));
    },
  };
}

/** Parses the digest of a range. @throws RequestFailure for an invalid digest; the source is then compared record by record */
function digestOf(value: unknown): SourceDigest {
  const { Last: last, Rows: rows, Members: members, Digest: digest } = isObject(value) ? value : {};
  const isDigest = typeof last === 'string' && typeof rows === 'number' && typeof digest === 'string';
  if (!isDigest || !isObject(members)) throw new RequestFailure('rejected', 'The source returned no digests');
  const numbers = Object.entries(members).map(([name, number]) => [name, Number(number)] as const);
  return { last, rows, members: Object.fromEntries(numbers), digest };
}
