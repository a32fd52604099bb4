import { hash } from 'node:crypto';
import type { View } from '../../access/index.ts';
import type { StoreModel } from '../../compile/model.ts';
import type { Page, Position, ResoShape } from '../../compile/read.ts';
import {
  type CsdlVersion,
  csdlDocument,
  csdlJson,
  csdlXml,
  type LookupMember,
} from '../../dictionary/csdl/index.ts';
import { memberName, type Resource } from '../../dictionary/index.ts';
import { requireNoOptions } from '../../query/odata/index.ts';
import { BoundedCache, bytesOfText, numberOf } from '../../shared/bounded-cache.ts';
import { withViewTag } from '../access/view-tag.ts';
import { asking, signingFor } from '../context.ts';
import { partsOf, type Reply } from '../exchange.ts';
import { chooseType } from '../http/accept.ts';
import { hasTag, weakTag } from '../http/etag.ts';
import { negotiateVersion } from '../http/odata-version.ts';
import { wholeText } from './enumerated.ts';
import { negotiate, type ResoRequest } from './resource-request.ts';

/** Clients from before RFC 7303 call XML text. */
const XML = ['application/xml', 'text/xml'] as const;
type Format = (typeof XML)[number] | 'application/json';

interface Written {
  readonly text: string;
  readonly etag: string;
}

/** Documents that are written already, by the view that they are of. */
const written = new BoundedCache<Written>('metadata documents', { bytes: 32 * 1024 * 1024 });

/** `$metadata`: what the key may see, as XML or JSON (OData 4.01 protocol, 11.1.2; specification 4.1). */
export async function metadata(request: ResoRequest): Promise<Reply> {
  const { exchange, session } = request;
  requireNoOptions(request.options, '$metadata');
  const version = negotiateVersion(exchange.headers['odata-version'], exchange.headers['odata-maxversion']);
  const format = formatOf(request, version);
  const { text, etag } = documentOf(session, version, format, await enumerationsOf(request));
  const reply: Reply = hasTag(exchange.headers['if-none-match'], etag)
    ? { status: 304, headers: { etag }, body: [] }
    : { status: 200, headers: { 'content-type': `${format}; charset=utf-8`, etag }, body: [text] };
  return withViewTag(reply, session);
}

/**
 * The floor plan interface gives XML alone. Clients of 4.0 send the Accept header of their records here, too, and read
 * nothing but XML, since JSON came with 4.01: they get that only by `$format`.
 */
function formatOf(request: ResoRequest, version: CsdlVersion): Format {
  const { exchange, options } = request;
  const isFloorPlans = exchange.surface.name === 'floorplans';
  const format = negotiate<Format>(request, isFloorPlans ? XML : [...XML, 'application/json']);
  if (format !== 'application/json' || version !== '4.0' || options.system.has('format')) return format;
  return chooseType(exchange.headers.accept, XML) ?? 'application/xml';
}

function documentOf(
  { view, model }: ResoRequest['session'],
  version: CsdlVersion,
  format: Format,
  enumerations: Enumerations | undefined,
): Written {
  const id = `${numberOf(view)} ${version} ${format} ${enumerations?.id ?? ''}`;
  const known = written.get(id);
  if (known !== undefined) return known;
  const document = csdlDocument({
    version,
    ...(enumerations === undefined ? {} : { enumerations: enumerations.members }),
    resources: publishedResources(view, model).map((resource) => ({
      resource,
      fields: view.fieldsOf(resource),
      navigations: [...resource.navigations.values()].filter(({ target }) =>
        view.publishes(model.resource(target)),
      ),
    })),
  });
  const text = format === 'application/json' ? csdlJson(document) : csdlXml(document);
  return written.put(id, { text, etag: weakTag(text) }, bytesOfText(text));
}

interface Enumerations {
  readonly members: ReadonlyMap<string, readonly LookupMember[]>;
  /** The same members have the same. */
  readonly id: string;
}

/** The members of the lookups as the key's Lookup resource lists them; where it has none, as the dictionary does. */
async function enumerationsOf({
  context,
  exchange,
  session,
}: ResoRequest): Promise<Enumerations | undefined> {
  const { view, model } = session;
  if (!view.enumerations) return undefined;
  const { lookups } = model.dictionary;
  const listing = view.schema.find('Lookup');
  const values =
    listing === undefined
      ? [...lookups.values()].flatMap((lookup) =>
          [...lookup.values.keys()].map((value) => [lookup.name, value]),
        )
      : await lookupValues(listing.resource, { context, exchange, session });
  const members = new Map<string, LookupMember[]>();
  for (const [lookup = '', value = ''] of values) {
    const known = members.get(lookup) ?? [];
    known.push({ name: memberName(lookups.get(lookup), value), value });
    members.set(lookup, known);
  }
  return { members, id: hash('sha256', JSON.stringify(values), 'base64url') };
}

/** Pairs of the lookup and the value, of all records that the key sees. */
async function lookupValues(
  resource: Resource,
  { context, exchange, session }: Pick<ResoRequest, 'context' | 'exchange' | 'session'>,
): Promise<string[][]> {
  const fields = ['LookupName', 'LookupValue'].flatMap((name) => resource.fields.get(name) ?? []);
  const shape: ResoShape = {
    kind: 'reso',
    selection: { all: false, fields, hidden: [] },
    computed: [],
    expansions: [],
    omitNulls: false,
    annotateHidden: false,
    root: '',
  };
  const asked = { query: { ...asking(session), resource }, limit: AT_ONCE, shape };
  const found: string[][] = [];
  const files = signingFor(context, exchange, session);
  for (let position: Position | undefined = { kind: 'start' }; position !== undefined; ) {
    const page: Page = await context.store.page({ ...asked, position, files }, context.read);
    const text = await wholeText(partsOf(page));
    page.release?.();
    const records: Record<string, string>[] = JSON.parse(`[${text}]`);
    found.push(...records.map(({ LookupName = '', LookupValue = '' }) => [LookupName, LookupValue]));
    position = page.more && page.last !== undefined ? { kind: 'after-key', key: page.last.key } : undefined;
  }
  return found;
}

/** Entries of Lookup that are read at once. */
const AT_ONCE = 1000;

function publishedResources(view: View, model: StoreModel): Resource[] {
  return [...model.dictionary.resources.values()].filter(view.publishes);
}
