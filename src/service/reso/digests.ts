/**
 * Digests of ranges of a collection, with which a replica verifies that its copy is equal (docs/replication.md). They are computed
 * from the responses that the key gets when it reads the collection, so they reveal nothing about records or fields that the key
 * may not see.
 */
import { PlatError, platError } from '../../errors/index.ts';
import { bindOptions, type SystemOption } from '../../query/odata/query.ts';
import { readSkipToken } from '../../query/skip-token.ts';
import { DIGEST_FORM, digestRange, type RangeDigest } from '../../store/digest.ts';
import type { Lane } from '../../store/read/lanes.ts';
import { jsonReply, queryContext, type Reply, signingFor } from '../exchange.ts';
import { nextLink, pageSize } from './next-page.ts';
import { type ResoRequest, requireJson } from './resource-request.ts';

/** The maximum number of ranges in one response, and the milliseconds after which no further range is begun. */
const MOST_RANGES = 64;
const MAX_DURATION = 1000;

export const DIGEST_OPTIONS: ReadonlySet<SystemOption> = new Set(['expand', 'top', 'skiptoken', 'format']);

/** The path of a resource's digests: `Property/$digests`. */
export const DIGESTS = /^([A-Za-z]\w*)\/\$digests\/?$/;

export async function digests(request: ResoRequest, resource: string): Promise<Reply> {
  requireJson(request);
  const { context, exchange, session, options } = request;
  const path = exchange.path;
  const schema = session.view.schema.find(resource);
  // Only the replication surface has this path.
  const isCompared = schema !== undefined && !schema.resource.fromChanges;
  if (exchange.surface.name !== 'replication' || !isCompared) throw platError('pathNotFound', { path });
  for (const name of options.system.keys()) {
    if (!DIGEST_OPTIONS.has(name))
      throw platError('optionUnknown', { name: `$${name}` }, { target: `$${name}` });
  }
  const query = bindOptions('collection', options, schema, session.view.schema);
  for (const { name: value, navigation, give, query: inner } of query.expansions) {
    const isWhole = inner.filter === undefined && inner.search === undefined && inner.selection.all;
    if (navigation.collection && give === 'records' && isWhole && inner.expansions.length === 0) continue;
    const facts = { name: '$expand', value, expected: 'names of collections' };
    throw platError('optionInvalid', facts, { target: '$expand' });
  }
  const { rows: limit } = pageSize(exchange.surface.paging, query.top, undefined, undefined);
  const files = signingFor(request);
  const records = { ...queryContext(session), resource: schema.resource };
  const { expansions } = query;
  const ranges: RangeDigest[] = [];
  let token = query.skipToken;
  const charged = chargedAsSearch(context);
  exchange.timings.start('store');
  const started = performance.now();
  for (
    let more = limit > 0;
    more && ranges.length < MOST_RANGES && performance.now() - started < MAX_DURATION;
  ) {
    const position = readSkipToken(token, query.order);
    const asked = { query: records, position, limit, files, expansions };
    const range = await charged.ofNext(() => digestRange(charged.store, asked, charged.read));
    if (range === undefined) break;
    ({ more } = range);
    if (range.last === undefined) break;
    token = range.last;
    ranges.push(range);
  }
  exchange.timings.start('encode');
  const link =
    ranges.at(-1)?.more === true
      ? { '@odata.nextLink': nextLink(exchange, { token: token ?? '', top: limit }) }
      : {};
  const value = ranges.map(({ last, rows, members, digest }) => ({
    Last: last,
    Rows: rows,
    Members: members,
    Digest: digest,
  }));
  return jsonReply({ Form: DIGEST_FORM, value, ...link });
}

/**
 * A store whose reads are charged to the key as searches: a short response of digests costs as much as all the pages that it
 * covers. The time to compute the digests, which happens here, is charged as well.
 */
function chargedAsSearch({ store, read }: ResoRequest['context']) {
  const { caller } = read;
  let pageReadAt = performance.now();
  let ranges = 0;
  return {
    store: {
      async page(...asked: Parameters<typeof store.page>) {
        const page = await store.page(...asked);
        pageReadAt = performance.now();
        return page;
      },
    },
    read:
      caller === undefined
        ? read
        : {
            ...read,
            caller: {
              name: caller.name,
              sumsUp: true,
              isGone: caller.isGone,
              begin: () => caller.begin('searches'),
              made: (bytes: number) => caller.made(bytes),
              spent: (_lane: Lane, milliseconds: number) => caller.spent('searches', milliseconds),
            },
          },
    /** @returns undefined if the key has used up its budget of searches but there are ranges to return already */
    async ofNext(computeDigest: () => Promise<RangeDigest>): Promise<RangeDigest | undefined> {
      try {
        const range = await computeDigest();
        caller?.spent('searches', performance.now() - pageReadAt);
        ranges++;
        return range;
      } catch (error) {
        if (ranges > 0 && error instanceof PlatError && error.retryAfter !== undefined) return undefined;
        throw error;
      }
    },
  };
}
