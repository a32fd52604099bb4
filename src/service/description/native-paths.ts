/** The paths of the native interface in OpenAPI, from its table of routes. */
import { type PartMember, partMembers } from '../../compile/text/native-parts.ts';
import { type Field, NATIVE_PARTS, type NativePart, rowOfPart } from '../../dictionary/index.ts';
import type { ParameterName } from '../../query/native/parameters.ts';
import { LAST_OFFSET, LAST_PAGE } from '../../query/native/request.ts';
import { ACCOUNT, LISTS } from '../native/account-table.ts';
import { NATIVE_ROUTES, type NativeRoute } from '../native/routes.ts';
import {
  content,
  type Json,
  listSchema,
  OBJECT_SCHEMA,
  operation,
  type Paths,
  pathParameters,
  ref,
  STRING_SCHEMA,
} from './openapi-elements.ts';
import { recordSchema } from './schemas.ts';

const PARAMETER: Readonly<Record<ParameterName, { readonly schema: Json; readonly takes: string }>> = {
  _filter: { schema: STRING_SCHEMA, takes: "A condition, such as StandardStatus Eq 'Active'." },
  _orderby: {
    schema: STRING_SCHEMA,
    takes: 'Names of fields, separated by commas, each with - in front for descending: ListPrice,-City.',
  },
  _select: { schema: STRING_SCHEMA, takes: 'Names of fields, separated by commas.' },
  _expand: { schema: STRING_SCHEMA, takes: 'Names of sub-resources, such as Photos.' },
  _limit: {
    schema: { type: 'integer', minimum: 1 },
    takes:
      'The maximum number of records per page: at most 25; on the replication surface 1000, and 200 for sub-resources.',
  },
  _skip: {
    schema: { type: 'integer', minimum: 0, maximum: LAST_OFFSET },
    takes: 'The number of records to skip.',
  },
  _skiptoken: { schema: STRING_SCHEMA, takes: 'The SkipToken of the previous page.' },
  _page: { schema: { type: 'integer', minimum: 1, maximum: LAST_PAGE }, takes: 'The number of the page.' },
  _lat: {
    schema: { type: 'number', minimum: -90, maximum: 90 },
    takes: 'Degrees of latitude.',
  },
  _lon: {
    schema: { type: 'number', minimum: -180, maximum: 180 },
    takes: 'Degrees of longitude.',
  },
  _distance: {
    schema: { type: 'number', exclusiveMinimum: 0, maximum: 100 },
    takes: 'The radius in miles around the point; the default is 10.',
  },
  _pagination: {
    schema: { enum: [0, 1, 'count'] },
    takes: 'Whether the response contains the number of matches: 1 with the records, count without them.',
  },
};

/** The parameters that are required wherever they are accepted. */
const REQUIRED: ReadonlySet<string> = new Set<ParameterName>(['_lat', '_lon']);

const parameterName = (name: string): string => `native${name.replace('_', '-')}`;

/** The parameters of the native interface, among the components. */
export const nativeParameters = (): Json =>
  Object.fromEntries(
    Object.entries(PARAMETER).map(([name, { schema, takes }]) => [
      parameterName(name),
      { name, in: 'query', description: takes, ...(REQUIRED.has(name) ? { required: true } : {}), schema },
    ]),
  );

const TEXT: Json = { type: ['string', 'null'] };
const OBJECTS = listSchema(OBJECT_SCHEMA);

/** The schema of a member of a sub-resource, by the kind of the member. */
const MEMBER: Readonly<Record<PartMember['kind'], Json>> = {
  key: STRING_SCHEMA,
  text: TEXT,
  constant: TEXT,
  address: TEXT,
  day: TEXT,
  clock: TEXT,
  privacy: STRING_SCHEMA,
  branding: { enum: ['branded', 'unbranded'] },
  flag: { type: 'boolean' },
  list: listSchema(STRING_SCHEMA),
  named: OBJECTS,
};

/** The schema of one of the records of a sub-resource: NativePhoto for photos. */
const partSchemaName = (part: NativePart): string => `Native${rowOfPart(part).expansion?.slice(0, -1)}`;

const schemaOf = (members: Iterable<readonly [name: string, schema: Json]>): Json => ({
  type: 'object',
  properties: Object.fromEntries(members),
});

const ACCOUNT_SCHEMA = schemaOf(
  ['ResourceUri', ...Object.keys(ACCOUNT.Member), ...LISTS].map((name) => [
    name,
    LISTS.has(name) ? OBJECTS : TEXT,
  ]),
);

/** @param fields the fields of a listing; undefined if they depend on the key */
export const nativeSchemas = (fields: readonly Field[] | undefined): Json => ({
  ...Object.fromEntries(
    NATIVE_PARTS.map((part) => [
      partSchemaName(part),
      schemaOf([...partMembers(part)].map(([name, kind]) => [name, MEMBER[kind]])),
    ]),
  ),
  NativeAccount: ACCOUNT_SCHEMA,
  NativeListing: {
    type: 'object',
    required: ['Id', 'ResourceUri', 'StandardFields'],
    properties: {
      Id: STRING_SCHEMA,
      ResourceUri: STRING_SCHEMA,
      StandardFields: {
        allOf: [
          recordSchema(
            fields?.filter(({ custom }) => custom === undefined),
            'ListingKey',
            ({ nativeName }) => nativeName,
          ),
          schemaOf(
            NATIVE_PARTS.map((part) => [
              String(rowOfPart(part).expansion),
              listSchema(ref('schemas', partSchemaName(part))),
            ]),
          ),
        ],
      },
      CustomFields: OBJECTS,
      LastCachedTimestamp: { type: 'null' },
      DisplayCompliance: { type: 'object', properties: { View: { enum: ['Summary', 'Detail'] } } },
    },
  },
});

const PAGINATION = ['TotalRows', 'PageSize', 'TotalPages', 'CurrentPage', 'CurrentOffset'];

const envelope = (record: Json): Json => ({
  type: 'object',
  required: ['D'],
  properties: {
    D: {
      type: 'object',
      required: ['Success', 'Results'],
      properties: {
        Success: { const: true },
        Results: listSchema(record),
        SkipToken: STRING_SCHEMA,
        Pagination: schemaOf(PAGINATION.map((name) => [name, { type: 'integer' }])),
      },
    },
  },
});

/** The schema of the records that a path returns. */
function resultOf({ path }: NativeRoute): Json {
  const part = NATIVE_PARTS.find((each) => path.startsWith(`listings/{key}/${each}`));
  if (part !== undefined) return ref('schemas', partSchemaName(part));
  if (path === 'openhouses') {
    return { allOf: [ref('schemas', partSchemaName(path)), schemaOf([['ListingKey', STRING_SCHEMA]])] };
  }
  if (path.startsWith('accounts')) return ref('schemas', 'NativeAccount');
  return /^listings(\/nearby|\/\{key\})?$/.test(path) ? ref('schemas', 'NativeListing') : OBJECT_SCHEMA;
}

function idOf(path: string): string {
  const words = path.split('/').map((word) => (word.startsWith('{') ? `by_${word.slice(1, -1)}` : word));
  return ['native', ...words].join('_');
}

/** @param root with slashes on both sides */
export function nativePaths(root: string): Paths {
  const paths = NATIVE_ROUTES.map((route) => {
    const { path, summary, takes, isTagged } = route;
    const described = operation({
      id: idOf(path),
      summary,
      tag: 'Native',
      parameters: [...pathParameters(path), ...takes.map((name) => ref('parameters', parameterName(name)))],
      answer: content('application/json', envelope(resultOf(route))),
      fault: 'NativeFault',
      isTagged,
    });
    return [`${root}${path}`, { get: described }];
  });
  return Object.fromEntries(paths);
}
