/** The paths of a RESO service root, from the entity sets, navigations and options that there are. */
import { CUSTOM_FIELDS, type Field, type Navigation, type Resource } from '../../dictionary/index.ts';
import { OPTIONS_OF, type SystemOption } from '../../query/odata/query.ts';
import type { ResourcePath } from '../../query/odata/resource-path.ts';
import { DIGEST_OPTIONS } from '../reso/digests.ts';
import type { SurfaceName } from '../surface.ts';
import { content, inPath, type Json, operation, type Paths, ref } from './parts.ts';
import { type Members, recordSchema } from './schemas.ts';

/** A resource as it is described. */
export interface DescribedResource {
  readonly resource: Resource;
  /** Undefined: which there are depends on who asks. */
  readonly fields: readonly Field[] | undefined;
  readonly navigations: readonly Navigation[];
  /** Of the lookups that are enumerations to who asks; absent: none is. */
  readonly members?: Members | undefined;
}

/** What each option takes, for people. */
const OPTION: Partial<Readonly<Record<SystemOption, { readonly schema: Json; readonly takes: string }>>> = {
  filter: { schema: { type: 'string' }, takes: "A condition, such as StandardStatus eq 'Active'." },
  orderby: { schema: { type: 'string' }, takes: 'Fields, each with asc or desc.' },
  select: { schema: { type: 'string' }, takes: 'Names of fields, separated by commas.' },
  expand: { schema: { type: 'string' }, takes: 'Names of related records, such as Media.' },
  compute: {
    schema: { type: 'string' },
    takes: 'Values to compute, such as ListPrice div LivingArea as Price.',
  },
  search: { schema: { type: 'string' }, takes: 'Words to look for.' },
  count: { schema: { type: 'boolean' }, takes: 'Whether the answer tells how many match.' },
  top: {
    schema: { type: 'integer', minimum: 0 },
    takes: 'On the replication surface the size of a page, elsewhere how many records in all.',
  },
  skip: { schema: { type: 'integer', minimum: 0 }, takes: 'How many records are left out.' },
  skiptoken: { schema: { type: 'string' }, takes: 'Where a page begins, as a link gave it.' },
  format: { schema: { type: 'string' }, takes: 'The media type of the answer.' },
};

const parameterName = (option: SystemOption): string => `odata-${option}`;

/** The parameters of the RESO interface, among the components. */
export function resoParameters(): Json {
  const described = Object.entries(OPTION).map(([option, { schema, takes }]) => [
    `odata-${option}`,
    { name: `$${option}`, in: 'query', description: takes, schema },
  ]);
  return Object.fromEntries(described);
}

const parametersOf = (options: Iterable<SystemOption>): Json[] =>
  [...options].map((option) => ref('parameters', parameterName(option)));

const JSON_NAME = 'application/json';
const TEXT = content('text/plain', { type: 'string' });
const FAULT = 'ResoFault';

export const resoSchemas = (resources: readonly DescribedResource[]): Json =>
  Object.fromEntries(
    resources.map(({ resource, fields, members }) => [
      resource.name,
      recordSchema(fields, resource.key, ({ name }) => name, members),
    ]),
  );

/** A page of records. */
const pageOf = (record: Json): Json => ({
  type: 'object',
  required: ['value'],
  properties: {
    '@odata.context': { type: 'string', format: 'uri' },
    '@odata.count': { type: 'integer' },
    '@odata.nextLink': { type: 'string', format: 'uri' },
    value: { type: 'array', items: record },
  },
});

/** A query that is longer than an address may be, in a body. */
const POSTED = {
  required: true,
  content: {
    ...content('text/plain', { type: 'string' }),
    ...content('application/x-www-form-urlencoded', {
      type: 'object',
      additionalProperties: { type: 'string' },
    }),
  },
};

interface Place {
  readonly root: string;
  readonly tag: string;
  /** Whether digests are given there. */
  readonly comparesRanges: boolean;
}

/** What one kind of path gives, below an entity set. */
type Describe = (set: DescribedResource, place: Place) => Paths;

const idOf = (...parts: readonly string[]): string => parts.join('_');

/** Where one record lies, by the type of its key. */
function recordPath({ resource }: DescribedResource, { root }: Place): string {
  const isText = resource.fields.get(resource.key)?.type.kind === 'string';
  return `${root}${resource.name}(${isText ? "'{key}'" : '{key}'})`;
}

function keyParameter({ resource }: DescribedResource): Json {
  const isText = resource.fields.get(resource.key)?.type.kind === 'string';
  return inPath('key', { type: isText ? 'string' : 'integer' }, `${resource.key}; a quote in it is doubled`);
}

/** The custom fields of one record by themselves. */
function customPaths(set: DescribedResource, place: Place): Paths {
  if (!(set.fields ?? []).some((field) => field.custom !== undefined)) return {};
  const { name, key } = set.resource;
  const given = { tag: place.tag, fault: FAULT };
  const path = `${recordPath(set, place)}/${CUSTOM_FIELDS}`;
  const own = (set.fields ?? []).filter((field) => field.custom !== undefined || field.name === key);
  return {
    [path]: {
      get: operation({
        ...given,
        id: idOf('get', name, CUSTOM_FIELDS),
        summary: `The custom fields of one record of ${name}, with its key, as a list of one`,
        parameters: [keyParameter(set), ...parametersOf(OPTIONS_OF.custom)],
        answer: content(JSON_NAME, pageOf(recordSchema(own, key, (field) => field.name, set.members))),
      }),
    },
    [`${path}/$count`]: {
      get: operation({
        ...given,
        id: idOf('count', name, CUSTOM_FIELDS),
        summary: `How many records of custom fields one record of ${name} has: one`,
        parameters: [keyParameter(set)],
        answer: TEXT,
      }),
    },
  };
}

/** Every kind of path that there is below an entity set. */
const KINDS: Readonly<Record<Exclude<ResourcePath['kind'], 'service' | 'metadata'> | 'digests', Describe>> = {
  collection: ({ resource }, { root, tag }) => {
    const { name } = resource;
    const answer = content(JSON_NAME, pageOf(ref('schemas', name)));
    const parameters = parametersOf(OPTIONS_OF.collection);
    const given = { tag, answer, fault: FAULT };
    return {
      [`${root}${name}`]: {
        get: operation({ ...given, id: idOf('list', name), summary: `A page of ${name}`, parameters }),
      },
      [`${root}${name}/$query`]: {
        post: operation({
          ...given,
          id: idOf('query', name),
          summary: `A page of ${name}, by options in the body`,
          body: POSTED,
        }),
      },
    };
  },
  count: ({ resource: { name } }, { root, tag }) => ({
    [`${root}${name}/$count`]: {
      get: operation({
        id: idOf('count', name),
        summary: `How many records of ${name} match`,
        tag,
        parameters: parametersOf(OPTIONS_OF.count),
        answer: TEXT,
        fault: FAULT,
      }),
    },
  }),
  record: (set, place) => {
    const { name } = set.resource;
    const path = recordPath(set, place);
    const given = { tag: place.tag, fault: FAULT };
    const one = operation({
      ...given,
      id: idOf('get', name),
      summary: `One record of ${name}`,
      parameters: [keyParameter(set), ...parametersOf(OPTIONS_OF.record)],
      answer: content(JSON_NAME, ref('schemas', name)),
    });
    const related = set.navigations.map(({ name: navigation, target, collection }) => {
      const options = collection ? OPTIONS_OF.collection : OPTIONS_OF.record;
      const record = ref('schemas', target);
      const described = operation({
        ...given,
        id: idOf('get', name, navigation),
        summary: `${navigation} of one record of ${name}`,
        parameters: [keyParameter(set), ...parametersOf(options)],
        answer: content(JSON_NAME, collection ? pageOf(record) : record),
      });
      return [`${path}/${navigation}`, { get: described }];
    });
    return { [path]: { get: one }, ...Object.fromEntries(related) };
  },
  field: (set, place) => {
    const { name } = set.resource;
    const parameters = [
      keyParameter(set),
      inPath(
        'field',
        {
          type: 'string',
          ...(set.fields === undefined ? {} : { enum: set.fields.map((field) => field.name) }),
        },
        'The name of a field',
      ),
    ];
    const given = { tag: place.tag, fault: FAULT };
    const path = `${recordPath(set, place)}/{field}`;
    return {
      [path]: {
        get: operation({
          ...given,
          id: idOf('field', name),
          summary: `One field of one record of ${name}; 204 where it is null`,
          parameters: [...parameters, ...parametersOf(OPTIONS_OF.field)],
          answer: content(JSON_NAME, { type: 'object', properties: { value: {} } }),
        }),
      },
      [`${path}/$value`]: {
        get: operation({
          ...given,
          id: idOf('text', name),
          summary: `One field of one record of ${name}, as bare text`,
          parameters,
          answer: TEXT,
        }),
      },
    };
  },
  custom: customPaths,
  digests: ({ resource: { name } }, { root, tag, comparesRanges }) =>
    comparesRanges
      ? {
          [`${root}${name}/$digests`]: {
            get: operation({
              id: idOf('digests', name),
              summary: `Digests of ranges of ${name}, by which a replica is compared`,
              tag,
              parameters: parametersOf(DIGEST_OPTIONS),
              answer: content(JSON_NAME, { type: 'object' }),
              fault: FAULT,
            }),
          },
        }
      : {},
};

/** @param root with slashes on both sides */
export function resoPaths(
  root: string,
  resources: readonly DescribedResource[],
  surface: SurfaceName,
): Paths {
  const place = { root, tag: 'RESO', comparesRanges: surface === 'replication' };
  const given = { tag: place.tag, fault: FAULT, parameters: parametersOf(OPTIONS_OF.field) };
  return {
    [root]: {
      get: operation({
        ...given,
        id: 'service',
        summary: 'The entity sets that the key may read',
        answer: content(JSON_NAME, { type: 'object' }),
      }),
    },
    [`${root}$metadata`]: {
      get: operation({
        ...given,
        id: 'metadata',
        summary: 'What the key may see, as CSDL',
        answer: {
          ...content('application/xml', { type: 'string' }),
          ...(surface === 'floorplans' ? {} : content(JSON_NAME, { type: 'object' })),
        },
      }),
    },
    ...Object.assign(
      {},
      ...resources.flatMap((set) => Object.values(KINDS).map((describe) => describe(set, place))),
    ),
  };
}
