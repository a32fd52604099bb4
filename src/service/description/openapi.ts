/**
 * The OpenAPI 3.1 description of a surface, from the tables of routes and the view of the key. Without a token, the description is
 * general: it names no fields, and no resources that an operator has added.
 */
import type { View } from '../../access/index.ts';
import type { StoreModel } from '../../compile/model.ts';
import type { Resource } from '../../dictionary/index.ts';
import { BoundedCache, bytesOfText } from '../../shared/bounded-cache.ts';
import { objectId } from '../../shared/memoize.ts';
import { DESCRIBED_ROUTES } from '../admin/routes.ts';
import { EVENT_OPTIONS, EVENT_STREAM, EVENTS_PATH } from '../events/events.ts';
import { DOCUMENT_PATH, FRONT_PATHS } from '../front/paths.ts';
import type { Enumerations } from '../reso/enumerations.ts';
import type { Surface } from '../surface.ts';
import { nativeParameters, nativePaths, nativeSchemas } from './native-paths.ts';
import {
  content,
  HEADERS,
  headerParameter,
  type Json,
  listSchema,
  OBJECT_SCHEMA,
  operation,
  type Paths,
  pathParameter,
  pathParameters,
  queryParameter,
  STRING_SCHEMA,
  TAGS,
} from './openapi-elements.ts';
import { type DescribedResource, resoParameters, resoPaths, resoSchemas } from './reso-paths.ts';

/** Finished descriptions, without the URL of the service. */
const written = new BoundedCache<string>('descriptions', { bytes: 8 * 1024 * 1024 });

/**
 * @param base the URL of the surface as its client reaches it
 * @param view the view of the key; undefined: there is no key
 * @param enumerations the enumerations that clients get instead of strings, if any
 */
export function openApiDocument(
  surface: Surface,
  base: string,
  model: StoreModel,
  view: View | undefined,
  enumerations?: Enumerations,
): string {
  const id = `${surface.name} ${objectId(view ?? model)} ${enumerations?.id ?? ''}`;
  const known = written.get(id) ?? write(id, surface, resourcesOf(surface, model, view, enumerations));
  return `{"openapi":"3.1.0","servers":${JSON.stringify([{ url: base }])},${known.slice(1)}`;
}

function write(id: string, surface: Surface, resources: readonly DescribedResource[]): string {
  const text = JSON.stringify(documentOf(surface, resources));
  return written.put(id, text, bytesOfText(text));
}

function resourcesOf(
  { name, resoRoot }: Surface,
  { dictionary }: StoreModel,
  view: View | undefined,
  enumerations: Enumerations | undefined,
): DescribedResource[] {
  if (resoRoot === undefined) return [];
  const isGeneral = (resource: Resource): boolean =>
    name === 'floorplans' ? resource.name === 'Media' : resource.always;
  const isShown = view?.publishes ?? isGeneral;
  const shown = new Map([...dictionary.resources].filter(([, resource]) => isShown(resource)));
  return [...shown.values()].map((resource) => ({
    resource,
    fields: view?.fieldsOf(resource),
    navigations: [...resource.navigations.values()].filter(({ target }) => shown.has(target)),
    members: enumerations?.members,
  }));
}

const JSON_NAME = 'application/json';

function documentOf(surface: Surface, resources: readonly DescribedResource[]): Json {
  const { resoRoot, nativeRoot, name } = surface;
  const listings = resources.find(({ resource }) => resource.name === 'Property');
  const paths: Paths = {
    ...openPaths(surface),
    ...(name === 'admin' ? adminPaths() : {}),
    ...(name === 'replication' ? eventPaths() : {}),
    ...(resoRoot === undefined ? {} : resoPaths(resoRoot, resources, name)),
    ...(nativeRoot === undefined ? {} : nativePaths(nativeRoot)),
  };
  const used = new Set(Object.values(paths).flatMap(tagsOf));
  return {
    info: {
      title: surface.title,
      version: '1',
      description:
        'A request with a token returns a description of what its key may see. Every path also accepts HEAD and OPTIONS; those of RESO and of the native interface also accept POST with X-HTTP-Method-Override: GET and the parameters in the body, form-encoded. Paths may continue from related records to their own related records.',
    },
    security: [{ bearer: [] }, { basic: [] }],
    tags: Object.entries(TAGS).flatMap(([name, description]) =>
      used.has(name) ? { name, description } : [],
    ),
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        basic: {
          type: 'http',
          scheme: 'basic',
          description: 'Any user name, and the token as the password.',
        },
      },
      parameters: {
        ...HEADERS,
        ...(resoRoot === undefined ? {} : resoParameters()),
        ...(nativeRoot === undefined ? {} : nativeParameters()),
      },
      schemas: {
        ...resoSchemas(resources),
        ...(nativeRoot === undefined ? {} : nativeSchemas(listings?.fields)),
      },
      responses: {
        ResoFault: RESO_FAULT,
        NativeFault: nativeRoot === undefined ? undefined : NATIVE_FAULT,
      },
    },
  };
}

/** @param envelope the name of the only member of the body */
const fault = (envelope: string, required: readonly string[], properties: Json): Json => ({
  description: 'The error: its cause, its place in the request, and how to correct it',
  content: content(JSON_NAME, {
    type: 'object',
    required: [envelope],
    properties: { [envelope]: { type: 'object', required, properties } },
  }),
});

const RESO_FAULT = fault('error', ['code', 'message'], {
  code: STRING_SCHEMA,
  message: STRING_SCHEMA,
  target: STRING_SCHEMA,
  details: listSchema(OBJECT_SCHEMA),
});
const NATIVE_FAULT = fault('D', ['Success', 'Code', 'Message'], {
  Success: { const: false },
  Code: { type: 'integer' },
  Message: STRING_SCHEMA,
  Errors: listSchema(OBJECT_SCHEMA),
  SparkQLErrors: listSchema(OBJECT_SCHEMA),
});

const tagsOf = (item: Json): string[] =>
  Object.values(item).flatMap((each) =>
    typeof each === 'object' && each !== null && 'tags' in each && Array.isArray(each.tags) ? each.tags : [],
  );

/** The paths that need no token: the front, and files with a signature in their URL. */
function openPaths({ name }: Surface): Paths {
  const front = FRONT_PATHS.map(({ path, summary, type }) => {
    const described = operation({
      id: path === '/' ? 'greeting' : path.replaceAll(/\W+/g, ' ').trim().replaceAll(' ', '_'),
      summary,
      tag: 'Front',
      parameters: pathParameters(path),
      answer: content(type, type === JSON_NAME ? OBJECT_SCHEMA : STRING_SCHEMA),
      isOpen: true,
      isTagged: path === DOCUMENT_PATH,
    });
    return [path, { get: described }];
  });
  if (name === 'admin') return Object.fromEntries(front);
  const file = operation({
    id: 'file',
    summary: 'Retrieve a file by the URL in a record of Media',
    tag: 'Front',
    parameters: [
      pathParameter('signature', STRING_SCHEMA, 'As in the URL of the record'),
      pathParameter('file', STRING_SCHEMA, 'As in the URL of the record'),
    ],
    answer: content('*/*', {}),
    isOpen: true,
    isTagged: true,
    others: { 206: { description: 'The part that Range asks for', content: content('*/*', {}) } },
  });
  return { ...Object.fromEntries(front), '/media/{signature}/{file}': { get: file } };
}

/** The stream of changes, which has no end. */
function eventPaths(): Paths {
  const described = operation({
    id: 'events',
    summary:
      'Stream the changes of the records that the key may see as server-sent events, as they are committed',
    tag: 'Changes',
    parameters: [
      ...Object.entries(EVENT_OPTIONS).map(([name, takes]) => queryParameter(name, takes)),
      headerParameter(
        'Last-Event-ID',
        'The last position that the client received; the events after it follow.',
      ),
    ],
    answer: content(EVENT_STREAM, STRING_SCHEMA),
  });
  return { [EVENTS_PATH]: { get: described } };
}

/** `keys` for reading /keys, `deleteKeysId` for deleting /keys/{id}. */
const adminId = (method: string, path: string): string => {
  const words = path.split(/\W+/).filter((word) => word !== '');
  const all = method === 'GET' ? words : [method.toLowerCase(), ...words];
  return all.map((word, at) => (at === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1))).join('');
};

function adminPaths(): Paths {
  const paths: Record<string, Record<string, Json>> = {};
  for (const { path, method, summary, type = JSON_NAME, body, query = {}, isOpen } of DESCRIBED_ROUTES) {
    const described = operation({
      id: adminId(method, path),
      summary,
      tag: 'Admin',
      parameters: [
        ...pathParameters(path),
        ...Object.entries(query).map(([name, takes]) => queryParameter(name, takes)),
      ],
      body: body && {
        required: true,
        content: content(JSON_NAME, { type: 'object', ...body, additionalProperties: false }),
      },
      answer: content(type, type === JSON_NAME ? OBJECT_SCHEMA : STRING_SCHEMA),
      isOpen,
    });
    paths[path] = { ...paths[path], [method.toLowerCase()]: described };
  }
  return paths;
}
