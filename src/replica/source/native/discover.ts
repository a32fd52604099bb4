import { hash } from 'node:crypto';
import { type Dictionary, REPLICA_STAMP } from '../../../dictionary/index.ts';
import type { Answer, SourceClient } from '../../http/client.ts';
import { isTooLarge, RequestFailure } from '../../http/failure.ts';
import { isObject } from '../../json.ts';
import { readEpoch, readView } from '../answer.ts';
import { isForeign } from '../foreign.ts';
import { ACCOUNTS, type Capabilities, type ForeignField, type Shown, type Source } from '../source.ts';
import { apiName, makeCustomNames } from './custom-names.ts';
import { nativeSource, readResults } from './native-source.ts';

export interface DiscoverNativeOptions {
  readonly client: SourceClient;
  /** Root of the interface, ends with `/v1/`. */
  readonly root: string;
  readonly dictionary: Dictionary;
  readonly resources: readonly string[];
  readonly windowField: string | undefined;
  /** Whether custom fields are replicated, too; they enlarge the payload considerably (specification 4.3, rule 4). */
  readonly customFields: boolean;
}

/** The eight expansions of the specification but CustomFields (4.3). */
const SPECIFIED = ['Photos', 'Videos', 'VirtualTours', 'Rooms', 'Units', 'OpenHouses', 'Documents'];

/** Finds out what a native server shows to this key: fields, masks, custom fields. */
export async function discoverNative(options: DiscoverNativeOptions): Promise<Source> {
  const { client, root, dictionary, resources, customFields } = options;
  const isPlat = await isFromPlat(client, root);
  // A replica that is served stamps its records itself, beside the stamps of its own source.
  const isReplica = (await readFields(client, root)).names.includes(REPLICA_STAMP);
  const custom = customFields ? await customFieldsOf(client, root) : [];
  const listing = dictionary.resources.get('Property');
  const foreign = custom.filter(({ name }) => listing !== undefined && isForeign(listing, name));
  const capabilities: Capabilities = {
    interface: 'native',
    isPlat,
    children: 'expanded',
    expansions: [...SPECIFIED, ...(isPlat ? ['FloorPlans'] : []), ...(customFields ? ['CustomFields'] : [])],
    windowField: options.windowField ?? (isReplica ? REPLICA_STAMP : 'ModificationTimestamp'),
    pagesByLink: true,
    counts: false,
    asksForMany: true,
    resources: resources.flatMap((name) =>
      name === 'Property' ? [name] : name === 'Member' ? [ACCOUNTS] : [],
    ),
  };
  const customNames = makeCustomNames(custom, async () => (customFields ? customFieldsOf(client, root) : []));
  const shown = async (): Promise<Shown> => digests(await readFields(client, root));
  return nativeSource({
    client,
    root,
    capabilities,
    foreignFields: foreign,
    dictionary,
    customNames,
    shown,
  });
}

async function isFromPlat(client: SourceClient, root: string): Promise<boolean> {
  const read = (answer: Answer) => ({ ...readResults(answer), headers: answer.headers });
  // Any listing tells it, and the first may be too large to be read.
  const { headers } = await client.get(`${root}listings?_limit=1&_select=ListingKey`, read);
  return headers['x-plat-index'] !== undefined;
}

interface ToldFields {
  readonly text: string;
  /** Of standard fields, and `group/label type` of custom ones. */
  readonly names: readonly string[];
  /** What a plat says of the records that the key may see. */
  readonly view: string;
  readonly epoch: string | undefined;
}

/** The fields that the source tells of, standard and custom. A source that tells of none never changes. */
async function readFields(client: SourceClient, root: string): Promise<ToldFields> {
  const { fields: standard, view, epoch } = await list('standardfields');
  const { fields: custom } = await list('customfields');
  const names = [
    ...standard.flatMap((fields) => Object.keys(fields)),
    ...custom.flatMap((groups) =>
      Object.entries(groups).flatMap(([group, fields]) =>
        Object.entries(isObject(fields) ? fields : {}).map(([label, field]) =>
          // A field that has an API name keeps it when it is renamed.
          isObject(field) && typeof field.FieldName === 'string'
            ? `${field.FieldName} ${field.Type}`
            : `${group}/${label}`,
        ),
      ),
    ),
  ];
  return { text: JSON.stringify([standard, custom]), names, view, epoch };

  async function list(
    name: string,
  ): Promise<Pick<ToldFields, 'view' | 'epoch'> & { readonly fields: Readonly<Record<string, unknown>>[] }> {
    const read = (answer: Answer) => ({
      fields: readResults(answer).results.filter(isObject),
      view: readView(answer.headers),
      epoch: readEpoch(answer.headers),
    });
    try {
      return await client.get(`${root}${name}`, read);
    } catch (error) {
      if (isTooLarge(error) || (error instanceof RequestFailure && error.kind === 'rejected'))
        return { fields: [], view: '', epoch: undefined };
      throw error;
    }
  }
}

const digests = ({ text, names, view, epoch }: ToldFields): Shown => ({
  epoch,
  revision: digest(text + view + (epoch ?? '')),
  fingerprint: names.length === 0 ? undefined : digest([...names.toSorted(), view].join('\n')),
});

const digest = (text: string): string => hash('sha256', text, 'base64url').slice(0, 22);

const TYPES: ReadonlyMap<unknown, string> = new Map([
  ['Boolean', 'boolean'],
  ['Integer', 'integer'],
  ['Decimal', 'decimal(15,4)'],
  ['Date', 'date'],
  ['Datetime', 'timestamp'],
]);

/** `/v1/customfields`: groups of fields, each with its type. */
async function customFieldsOf(client: SourceClient, root: string): Promise<ForeignField[]> {
  const { results } = await client.get(`${root}customfields`, readResults);
  return results
    .filter(isObject)
    .flatMap((groups) => Object.entries(groups))
    .flatMap(([group, fields]) =>
      (isObject(fields) ? Object.entries(fields) : []).map(([label, field]) => ({ group, label, field })),
    )
    .flatMap(({ group, label, field }) => {
      if (!isObject(field)) return [];
      const name = typeof field.FieldName === 'string' ? field.FieldName : apiName(group, label);
      const type = field.MultiSelect === true ? 'string[]' : (TYPES.get(field.Type) ?? 'string');
      return [{ resource: 'Property', name, type, group, label }];
    });
}
