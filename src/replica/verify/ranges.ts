/** The fast form of the proof: both ends compute digests of ranges of keys. It finds the ranges that differ. */
import { timestampFrom } from '../../dictionary/index.ts';
import { bindOptions, parseQueryOptions } from '../../query/odata/query.ts';
import { returnsOwnTimestamps } from '../../records/settings.ts';
import { digestRange } from '../../store/digest.ts';
import { replicaSources } from '../checkpoint/checkpoint.ts';
import type { Copy } from '../copy/copy.ts';
import { RequestFailure } from '../http/failure.ts';
import type { SourceDigest, SourceRanges } from '../source/source.ts';
import { READ_LIMIT, verificationView } from './compare.ts';

/** The number of records of a range. */
const SIZE = 1000;

/** A range of the source, and whether it is equal in the copy. */
export interface ComparedRange extends SourceDigest {
  /** The key before the first key of the range. */
  readonly after: string;
  readonly isEqual: boolean;
}

/** Whether a copy can be compared by digests: its texts must all come from one source, with the names that the source returns. */
export async function canCompareRanges({ checkpoint, feed, store }: Copy): Promise<boolean> {
  const { settings } = await store.model();
  return (
    feed.ranges !== undefined &&
    settings.agentsFrom === 'records' &&
    !returnsOwnTimestamps(settings) &&
    (await replicaSources(store)).length === 1 &&
    (checkpoint.get('ignored') ?? []).length === 0
  );
}

/**
 * Compares the ranges of a collection one after the other.
 * @throws RequestFailure `rejected` before the first range, if the source does not return digests after all
 */
export async function* compareRanges(
  { feed, store, environment }: Copy,
  source: SourceRanges,
  resource: string,
): AsyncGenerator<ComparedRange> {
  const model = await store.model();
  const view = verificationView(model);
  const { children, expansions: names } = feed.capabilities;
  const expand =
    resource === 'Property' && children === 'expanded' && names.length > 0
      ? `$expand=${names.join(',')}`
      : '';
  const { expansions } = bindOptions(
    'collection',
    parseQueryOptions(expand),
    view.schema.of(resource),
    view.schema,
  );
  const query = {
    view,
    resource: model.resource(resource),
    order: [],
    now: timestampFrom(environment.clock.now()),
  };
  const files = { base: '', role: view.role.name, expires: 0 };
  let after = '';
  for (let coming: Answer | undefined = source.digests(resource, after, SIZE); coming !== undefined; ) {
    const answer: Awaited<Answer> = await coming;
    const { ranges, more } = answer;
    const end: string | undefined = ranges.at(-1)?.last;
    if (more && end === undefined) throw new RequestFailure('transient', 'The source gave no ranges');
    // The source computes the digests of the next ranges while these are compared.
    coming = more && end !== undefined ? source.digests(resource, end, SIZE) : undefined;
    coming?.catch(() => undefined); // thrown when it is awaited
    for (const range of ranges) {
      const position =
        after === '' ? ({ kind: 'start' } as const) : ({ kind: 'after-key', key: after } as const);
      const copyDigest = await digestRange(
        store,
        { query, position, limit: range.rows, files, expansions },
        READ_LIMIT,
      );
      const isEqual =
        copyDigest.rows === range.rows &&
        copyDigest.last === range.last &&
        copyDigest.digest === range.digest;
      yield { ...range, after, isEqual };
      after = range.last;
    }
  }
}

type Answer = ReturnType<SourceRanges['digests']>;
