/** The elements of OpenAPI descriptions (OpenAPI 3.1). This module must not know any interface. */

export type Json = Readonly<Record<string, unknown>>;
export type Paths = Record<string, Json>;

export const STRING_SCHEMA: Json = { type: 'string' };
/** An object whose members are not described. Without the second member, generated types have no members at all. */
export const OBJECT_SCHEMA: Json = { type: 'object', additionalProperties: true };
export const listSchema = (items: Json): Json => ({ type: 'array', items });

export const ref = (kind: 'schemas' | 'parameters' | 'responses', name: string): Json => ({
  $ref: `#/components/${kind}/${name}`,
});

export const content = (type: string, schema: Json): Json => ({ [type]: { schema } });

/** The groups of operations, in order, and what each contains. */
export const TAGS = {
  Front: 'What needs no key: the start page, documents, and files whose URL is signed',
  Admin: "The operator's view of the service and its store",
  Changes: 'Changes as they are committed',
  RESO: 'RESO Web API, by OData 4.01',
  Native: 'The native interface',
} as const;

export interface Operation {
  readonly id: string;
  readonly summary: string;
  readonly tag: keyof typeof TAGS;
  readonly parameters?: readonly Json[];
  readonly body?: Json;
  readonly answer: Json;
  /** The name of the response for all errors. */
  readonly fault?: 'ResoFault' | 'NativeFault';
  /** Whether it needs no token. */
  readonly isOpen?: boolean;
  /** Whether the response has an ETag. */
  readonly isTagged?: boolean;
  /** Further responses, by status. */
  readonly others?: Json;
}

/** A response without a body. */
const empty = (status: number, description: string): Json => ({ [status]: { description } });

export const NO_CONTENT = empty(204, 'The value is null');
const NOT_MODIFIED = empty(304, 'The client has the current version');

export const headerParameter = (name: string, description: string): Json => ({
  ...{ name, in: 'header', description, schema: STRING_SCHEMA },
});

/** The headers of requests, among the components. */
export const HEADERS = {
  'if-match': headerParameter(
    'If-Match',
    'The ETag of the version that the client wants; 412 for any other version.',
  ),
  'if-none-match': headerParameter('If-None-Match', 'The ETag of the version that the client has.'),
  prefer: headerParameter(
    'Prefer',
    'odata.maxpagesize, odata.track-changes, omit-values=nulls or odata.include-annotations, separated by commas.',
  ),
};

export function operation({
  id,
  summary,
  tag,
  parameters = [],
  body,
  answer,
  fault = 'ResoFault',
  isOpen = false,
  isTagged = false,
  others = {},
}: Operation): Json {
  const conditions = isTagged ? [ref('parameters', 'if-match'), ref('parameters', 'if-none-match')] : [];
  const all = [...parameters, ...conditions];
  return {
    operationId: id,
    summary,
    tags: [tag],
    parameters: all.length === 0 ? undefined : all,
    requestBody: body,
    security: isOpen ? [] : undefined,
    responses: {
      200: { description: 'OK', content: answer },
      ...others,
      ...(isTagged ? NOT_MODIFIED : {}),
      default: ref('responses', fault),
    },
  };
}

export const pathParameter = (name: string, schema: Json, description: string): Json => ({
  ...{ name, in: 'path', required: true, description, schema },
});

/** A text that a query may have. */
export const queryParameter = (name: string, description: string): Json => ({
  ...{ name, in: 'query', description, schema: STRING_SCHEMA },
});

/** The parameters of a path that has their names in braces. */
export const pathParameters = (path: string): Json[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => pathParameter(name, STRING_SCHEMA, `The ${name}`));
