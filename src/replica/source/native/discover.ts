/** Determines what a native server shows to this key: fields, masks, custom fields. */
import { PART_EXPANSIONS, REPLICA_TIMESTAMP, SPECIFIED_EXPANSIONS } from '../../../dictionary/index.ts';
import { isObject, type JsonObject, objectsIn } from '../../../shared/json.ts';
import type { SourceClient, SourceResponse } from '../../http/client.ts';
import { isDirectFailure, isTooLarge, RequestFailure, unlessGone } from '../../http/failure.ts';
import {
  type Discovered,
  type DiscoveryOptions,
  factsUnder,
  fingerprintsOf,
  isFromPlat,
  keyFromValue,
  NO_FACTS,
  readPlatHeaders,
  type SourceFacts,
} from '../response.ts';
import { ACCOUNTS, type Capabilities, type ForeignField, isForeign, resourcesIn } from '../source.ts';
import { CustomNames, declaredFields, listedFields } from './native-json.ts';
import { nativeSource } from './native-source.ts';
import { readResults } from './requests.ts';

interface DiscoverNativeOptions extends DiscoveryOptions {
  /** Whether custom fields are copied as well; they enlarge the payload considerably (specification 4.3, rule 4). */
  readonly customFields: boolean;
}

export async function discoverNative(options: DiscoverNativeOptions): Promise<Discovered> {
  const { client, root, dictionary, resources, customFields } = options;
  // Any listing is sufficient. Only its key is selected, so that the response is not too large to be read.
  const probe = `${root}listings?_limit=1&_select=ListingKey`;
  const isPlat = await client.get(probe, (answer) => {
    readResults(answer);
    return isFromPlat(answer);
  });
  // A plat source that is itself a replica has timestamps of its own, in addition to those of its source.
  const found = await readFields(client, root);
  const isReplica = found.fields?.includes(REPLICA_TIMESTAMP) === true;
  const askCustom = (client: SourceClient): Promise<ForeignField[]> =>
    client.get(`${root}customfields`, (answer) => declaredFields(readResults(answer).results));
  // The specification has no such path. Without it, the names of custom fields are derived from their groups and labels.
  const listed = customFields ? await unlessGone(askCustom(client)) : undefined;
  const custom = listed ?? [];
  const listing = dictionary.resources.get('Property');
  const asked = resources.filter((name) => resourcesIn(ACCOUNTS).includes(name));
  const mayLackAccounts =
    !isPlat && asked.length > 0 && asked.every((name) => options.mayLack.includes(name));
  const lacking =
    mayLackAccounts && (await unlessGone(client.get(`${root}${ACCOUNTS}?_limit=1`, () => true))) === undefined
      ? asked
      : [];
  const isApart = !isPlat && resources.includes('Property') && (await ignoresExpansions(client, root));
  const capabilities: Capabilities = {
    interface: 'native',
    isPlat,
    children: isApart ? 'per-listing' : 'expanded',
    expansions: [
      ...(isPlat ? PART_EXPANSIONS : SPECIFIED_EXPANSIONS),
      ...(customFields ? ['CustomFields'] : []),
    ],
    windowField: options.windowField ?? (isReplica ? REPLICA_TIMESTAMP : 'ModificationTimestamp'),
    pagesByLink: true,
    assumesUtc: options.assumeUtc,
    counts: false,
    asksForMany: true,
    resources: [
      ...resources.filter((name) => name === 'Property'),
      ...(asked.length > lacking.length ? [ACCOUNTS] : []),
    ],
    lacking,
  };
  return (client) =>
    nativeSource({
      client,
      root,
      capabilities,
      foreignFields: custom.filter(({ name }) => listing !== undefined && isForeign(listing, name)),
      dictionary,
      customNames: new CustomNames(custom, async () => (listed === undefined ? [] : askCustom(client))),
      discovered: fingerprintsOf(factsUnder(options, found)),
      shown: async () => fingerprintsOf(factsUnder(options, await readFields(client, root))),
    });
}

/** The number of listings of which one is expected to have a sub-resource, and of those whose photos are requested by path. */
const EXPANDED_LISTINGS = 50;
const LISTINGS_BY_PATH = 5;

/** Whether a listing has photos at its path, but none of many listings has a sub-resource if it is expanded. */
async function ignoresExpansions(client: SourceClient, root: string): Promise<boolean> {
  const ask = async (path: string): Promise<readonly JsonObject[]> => {
    const read = (answer: SourceResponse) => readResults(answer).results.filter(isObject);
    try {
      return await client.get(`${root}${path}`, read, { attempts: 2 });
    } catch (error) {
      // Anything else than a proof leaves the expansions in use.
      if (!isDirectFailure(error) || error.kind === 'stopped' || error.status === 401) throw error;
      return [];
    }
  };
  const many = `listings?_limit=${EXPANDED_LISTINGS}&_select=ListingKey`;
  const isShown = ({ StandardFields: fields }: JsonObject): boolean =>
    isObject(fields) && PART_EXPANSIONS.some((name) => objectsIn(fields[name]).length > 0);
  const expanded = await ask(`${many}&_expand=${SPECIFIED_EXPANSIONS.join(',')}`);
  if (expanded.some(isShown)) return false;
  const listed = expanded.length > 0 ? expanded : await ask(many);
  const keys = listed.flatMap(({ Id: id }) => keyFromValue(id) ?? []);
  for (const key of keys.slice(0, LISTINGS_BY_PATH)) {
    const photos = await ask(`listings/${encodeURIComponent(key)}/photos?_limit=1`);
    if (photos.some((photo) => !('StandardFields' in photo))) return true;
  }
  return false;
}

/** Reads the standard and custom fields that the source lists. A source that lists none is assumed never to change them. */
async function readFields(client: SourceClient, root: string): Promise<SourceFacts> {
  const list = async (
    name: string,
  ): Promise<Omit<SourceFacts, 'fields' | 'text'> & { results: unknown[] }> => {
    const read = (answer: SourceResponse) => ({
      results: readResults(answer).results.filter(isObject),
      ...readPlatHeaders(answer),
    });
    try {
      return await client.get(`${root}${name}`, read);
    } catch (error) {
      if (isTooLarge(error) || (error instanceof RequestFailure && error.kind === 'rejected'))
        return { ...NO_FACTS, results: [] };
      throw error;
    }
  };
  const { results: standard, view, epoch } = await list('standardfields');
  const { results: custom } = await list('customfields');
  const fields = [
    ...standard.filter(isObject).flatMap((each) => Object.keys(each)),
    ...listedFields(custom).map(({ group, label, field }) =>
      // A field with an API name keeps it when its label changes.
      isObject(field) && typeof field.FieldName === 'string'
        ? `${field.FieldName} ${field.Type}`
        : `${group}/${label}`,
    ),
  ];
  const text = JSON.stringify([standard, custom]);
  return { text, fields: fields.length === 0 ? undefined : fields, view, epoch };
}
