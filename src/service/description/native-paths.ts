/** The paths of the native interface in OpenAPI, from its table of routes. */
import type { Field } from '../../dictionary/index.ts';
import type { ParameterName } from '../../query/native/parameters.ts';
import { LAST_OFFSET, LAST_PAGE } from '../../query/native/request.ts';
import { NATIVE_ROUTES, type NativeRoute } from '../native/routes.ts';
import {
  content,
  type Json,
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

/** @param fields the fields of a listing; undefined if they depend on the key */
export const nativeSchemas = (fields: readonly Field[] | undefined): Json => ({
  NativeListing: {
    type: 'object',
    required: ['Id', 'ResourceUri', 'StandardFields'],
    properties: {
      Id: STRING_SCHEMA,
      ResourceUri: STRING_SCHEMA,
      StandardFields: recordSchema(
        fields?.filter(({ custom }) => custom === undefined),
        'ListingKey',
        ({ nativeName }) => nativeName,
      ),
      CustomFields: { type: 'array', items: { type: 'object' } },
    },
  },
});

const envelope = (record: Json): Json => ({
  type: 'object',
  required: ['D'],
  properties: {
    D: {
      type: 'object',
      required: ['Success', 'Results'],
      properties: {
        Success: { const: true },
        Results: { type: 'array', items: record },
        SkipToken: STRING_SCHEMA,
        Pagination: { type: 'object' },
      },
    },
  },
});

const isListing = ({ path }: NativeRoute): boolean => path === 'listings' || path === 'listings/{key}';

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
      answer: content(
        'application/json',
        envelope(isListing(route) ? ref('schemas', 'NativeListing') : { type: 'object' }),
      ),
      fault: 'NativeFault',
      isTagged,
    });
    return [`${root}${path}`, { get: described }];
  });
  return Object.fromEntries(paths);
}
