/** The paths of a RESO service root in OpenAPI, from the existing entity sets, navigations and options. */
import {
  CUSTOM_FIELDS,
  type Field,
  keyField,
  type Navigation,
  type Resource,
} from '../../dictionary/index.ts';
import { OPTIONS_BY_PATH, type SystemOption } from '../../query/odata/query.ts';
import type { ResourcePath } from '../../query/odata/resource-path.ts';
import { DIGEST_OPTIONS } from '../reso/digests.ts';
import type { SurfaceName } from '../surface.ts';
import {
  content,
  type Json,
  listSchema,
  NO_CONTENT,
  OBJECT_SCHEMA,
  type Operation,
  operation,
  type Paths,
  pathParameter,
  ref,
  STRING_SCHEMA,
} from './openapi-elements.ts';
import { type Members, recordSchema } from './schemas.ts';

export interface DescribedResource {
  readonly resource: Resource;
  /** Undefined if the fields depend on the key. */
  readonly fields: readonly Field[] | undefined;
  readonly navigations: readonly Navigation[];
  /** The members of the lookups that are enumerations for the key; absent if there are none. */
  readonly members?: Members | undefined;
}

const COUNTED: Json = { type: 'integer', minimum: 0 };

/** The schema and the description of each option. */
const OPTION: Partial<Readonly<Record<SystemOption, readonly [schema: Json, takes: string]>>> = {
  filter: [STRING_SCHEMA, "A condition, such as StandardStatus eq 'Active'."],
  orderby: [STRING_SCHEMA, 'Names of fields, each optionally followed by asc or desc, separated by commas.'],
  select: [STRING_SCHEMA, 'Names of fields, separated by commas.'],
  expand: [STRING_SCHEMA, 'Names of related records, such as Media.'],
  compute: [STRING_SCHEMA, 'Values to compute, such as ListPrice div LivingArea as Price.'],
  search: [STRING_SCHEMA, 'The words to search for.'],
  count: [{ type: 'boolean' }, 'Whether the response contains the number of matches.'],
  top: [
    COUNTED,
    'On the replication surface the size of a page, elsewhere the maximum number of records in total.',
  ],
  skip: [COUNTED, 'The number of records to skip.'],
  skiptoken: [STRING_SCHEMA, 'The position at which a page begins, copied from a next link.'],
  deltatoken: [STRING_SCHEMA, 'The position after which changes are returned, copied from a delta link.'],
  format: [STRING_SCHEMA, 'The media type of the response.'],
};

/** The system query options, among the components. */
export const resoParameters = (): Json =>
  Object.fromEntries(
    Object.entries(OPTION).map(([option, [schema, takes]]) => [
      `odata-${option}`,
      { name: `$${option}`, in: 'query', description: takes, schema },
    ]),
  );

const JSON_NAME = 'application/json';
const PLAIN = content('text/plain', STRING_SCHEMA);

export const resoSchemas = (resources: readonly DescribedResource[]): Json =>
  Object.fromEntries(
    resources.flatMap((set) => {
      const { resource, fields, members } = set;
      const record = recordSchema(fields, resource.key, ({ name }) => name, members);
      const properties = relatedSchemas(set);
      if (properties === undefined) return [[resource.name, record]];
      const expanded = { allOf: [ref('schemas', resource.name), { type: 'object', properties }] };
      return [
        [resource.name, record],
        [expandedName(resource.name), expanded],
      ];
    }),
  );

const expandedName = (resource: string): string => `${resource}Expanded`;

/**
 * The members that `$expand` adds to a record; undefined if there are none. Their own expansions are not described: some generators
 * of clients write every path through related records out.
 */
function relatedSchemas({ resource, fields, navigations }: DescribedResource): Json | undefined {
  if (fields === undefined) return undefined;
  const related: (readonly [string, Json])[] = navigations.map(({ name, target, collection }) => {
    const record = ref('schemas', target);
    return [name, collection ? listSchema(record) : { anyOf: [record, { type: 'null' }] }];
  });
  if (fields.some(({ custom }) => custom !== undefined)) {
    related.push([CUSTOM_FIELDS, listSchema(ref('schemas', resource.name))]);
  }
  return related.length === 0 ? undefined : Object.fromEntries(related);
}

const pageOf = (record: Json): Json =>
  content(JSON_NAME, {
    type: 'object',
    required: ['value'],
    properties: {
      '@odata.context': { type: 'string', format: 'uri' },
      '@odata.count': { type: 'integer' },
      '@odata.nextLink': { type: 'string', format: 'uri' },
      '@odata.deltaLink': { type: 'string', format: 'uri' },
      value: listSchema(record),
    },
  });

/** The body of a query that is too long for a URL. */
const POSTED = {
  required: true,
  content: {
    ...content('text/plain', STRING_SCHEMA),
    ...content('application/x-www-form-urlencoded', { type: 'object', additionalProperties: STRING_SCHEMA }),
  },
};

/** The service root that a path is under. */
interface Root {
  /** With slashes on both sides. */
  readonly root: string;
  /** Whether digests are available there. */
  readonly comparesRanges: boolean;
  /** Whether collections have delta links there. */
  readonly tracksChanges: boolean;
  /** The schema of a record that a path returns. */
  readonly recordOf: (resource: string) => Json;
}

interface OperationOptions
  extends Pick<Operation, 'summary' | 'parameters' | 'body' | 'answer' | 'isTagged'> {
  /** The parts of the operation's id: the kind of the request and its subject. */
  readonly id: readonly string[];
  readonly options?: Iterable<SystemOption>;
  /** Whether it returns records, whose form the client can choose by preferences. */
  readonly isPreferred?: boolean;
  /** Whether the result can be null, which is a response without a body. */
  readonly isNullable?: boolean;
}

const describeOperation = ({
  id,
  parameters = [],
  options = [],
  isPreferred,
  isNullable,
  ...given
}: OperationOptions): Json =>
  operation({
    ...given,
    id: id.join('_'),
    tag: 'RESO',
    parameters: [
      ...parameters,
      ...[...options].map((option) => ref('parameters', `odata-${option}`)),
      ...(isPreferred ? [ref('parameters', 'prefer')] : []),
    ],
    others: isNullable ? NO_CONTENT : {},
  });

const get = (given: OperationOptions): Json => ({ get: describeOperation(given) });

/** The path of one record, and the parameter in it, by the type of its key. */
function recordPath({ resource }: DescribedResource, { root }: Root): { path: string; key: Json } {
  const isText = keyField(resource).type.kind === 'string';
  return {
    path: `${root}${resource.name}(${isText ? "'{key}'" : '{key}'})`,
    key: pathParameter(
      'key',
      { type: isText ? 'string' : 'integer' },
      `${resource.key}; a quote in it is doubled`,
    ),
  };
}

/** Entries of the sequence of changes have no text to search, no related records, and do not change. */
const NOT_OF_EVENTS = new Set<SystemOption>(['search', 'expand', 'deltatoken']);

const optionsOf = ({ fromChanges }: Resource, kind: 'collection' | 'count' | 'record'): Set<SystemOption> =>
  fromChanges === true ? OPTIONS_BY_PATH[kind].difference(NOT_OF_EVENTS) : OPTIONS_BY_PATH[kind];

/** The paths of each kind below an entity set: a missing kind does not compile. */
const KINDS: Readonly<
  Record<
    Exclude<ResourcePath['kind'], 'service' | 'metadata'> | 'digests',
    (set: DescribedResource, root: Root) => Paths
  >
> = {
  collection({ resource }, { root, tracksChanges, recordOf }) {
    const { name } = resource;
    const answer = pageOf(recordOf(name));
    const options = optionsOf(resource, 'collection').difference(
      new Set(tracksChanges ? [] : ['deltatoken']),
    );
    const page = { id: ['list', name], summary: `List records of ${name}`, answer, isPreferred: true };
    const summary = `${page.summary}, with the query options in the body`;
    return {
      [`${root}${name}`]: get({ ...page, options }),
      [`${root}${name}/$query`]: {
        post: describeOperation({ ...page, id: ['query', name], summary, body: POSTED }),
      },
    };
  },
  count({ resource }, { root }) {
    const { name } = resource;
    const options = optionsOf(resource, 'count');
    const summary = `Count records of ${name}`;
    return { [`${root}${name}/$count`]: get({ id: ['count', name], summary, options, answer: PLAIN }) };
  },
  record(set, root) {
    const { name } = set.resource;
    const { path, key } = recordPath(set, root);
    const one = get({
      id: ['get', name],
      summary: `Retrieve a record of ${name}`,
      parameters: [key],
      options: optionsOf(set.resource, 'record'),
      answer: content(JSON_NAME, root.recordOf(name)),
      isPreferred: true,
      isTagged: true,
    });
    const related = set.navigations.map(({ name: navigation, target, collection }) => {
      const record = root.recordOf(target);
      const given = get({
        id: ['related', name, navigation],
        summary: `Retrieve ${navigation} of a record of ${name}`,
        parameters: [key],
        options: collection ? OPTIONS_BY_PATH.children : OPTIONS_BY_PATH.record,
        answer: collection ? pageOf(record) : content(JSON_NAME, record),
        isPreferred: true,
        isTagged: !collection,
        isNullable: !collection,
      });
      return [`${path}/${navigation}`, given];
    });
    return { [path]: one, ...Object.fromEntries(related) };
  },
  field(set, root) {
    const { name } = set.resource;
    const { path, key } = recordPath(set, root);
    const names = set.fields === undefined ? {} : { enum: set.fields.map((field) => field.name) };
    const parameters = [key, pathParameter('field', { ...STRING_SCHEMA, ...names }, 'The name of a field')];
    return {
      [`${path}/{field}`]: get({
        id: ['field', name],
        summary: `Retrieve a field of a record of ${name}`,
        parameters,
        options: OPTIONS_BY_PATH.field,
        answer: content(JSON_NAME, { type: 'object', properties: { value: {} } }),
        isNullable: true,
      }),
      [`${path}/{field}/$value`]: get({
        id: ['text', name],
        summary: `Retrieve a field of a record of ${name} as plain text`,
        parameters,
        answer: PLAIN,
        isNullable: true,
      }),
    };
  },
  custom(set, root) {
    const { name, key: keyField } = set.resource;
    const shownFields = (set.fields ?? []).filter(
      (field) => field.custom !== undefined || field.name === keyField,
    );
    if (!shownFields.some((field) => field.custom !== undefined)) return {};
    const { path, key } = recordPath(set, root);
    return {
      [`${path}/${CUSTOM_FIELDS}`]: get({
        id: ['related', name, CUSTOM_FIELDS],
        summary: `Retrieve the custom fields of a record of ${name}, with its key, as a list of one element`,
        parameters: [key],
        options: OPTIONS_BY_PATH.custom,
        answer: pageOf(recordSchema(shownFields, keyField, (field) => field.name, set.members)),
        isTagged: true,
      }),
      [`${path}/${CUSTOM_FIELDS}/$count`]: get({
        id: ['count', name, CUSTOM_FIELDS],
        summary: `Count the records of custom fields of a record of ${name}: always 1`,
        parameters: [key],
        answer: PLAIN,
      }),
    };
  },
  digests({ resource: { name, fromChanges } }, { root, comparesRanges }) {
    if (!comparesRanges || fromChanges === true) return {};
    return {
      [`${root}${name}/$digests`]: get({
        id: ['digests', name],
        summary: `Retrieve digests of ranges of ${name}, to compare a replica`,
        options: DIGEST_OPTIONS,
        answer: content(JSON_NAME, OBJECT_SCHEMA),
      }),
    };
  },
};

/** @param root with slashes on both sides */
export function resoPaths(
  root: string,
  resources: readonly DescribedResource[],
  surface: SurfaceName,
): Paths {
  const options = OPTIONS_BY_PATH.field;
  const object = content(JSON_NAME, OBJECT_SCHEMA);
  const xml = content('application/xml', STRING_SCHEMA);
  const expandable = new Set(
    resources.flatMap((set) => (relatedSchemas(set) === undefined ? [] : [set.resource.name])),
  );
  const under: Root = {
    root,
    comparesRanges: surface === 'replication',
    tracksChanges: surface !== 'floorplans',
    recordOf: (resource) => ref('schemas', expandable.has(resource) ? expandedName(resource) : resource),
  };
  return {
    // Linters reject paths that end in a slash.
    [root.slice(0, -1)]: get({
      id: ['service'],
      summary: 'List the entity sets that the key may read',
      options,
      answer: object,
    }),
    [`${root}$metadata`]: get({
      id: ['metadata'],
      summary: 'Retrieve the metadata that the key may see as CSDL',
      options,
      isTagged: true,
      answer: { ...xml, ...(surface === 'floorplans' ? {} : object) },
    }),
    ...Object.assign(
      {},
      ...resources.flatMap((set) => Object.values(KINDS).map((describe) => describe(set, under))),
    ),
  };
}
