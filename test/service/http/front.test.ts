/** The start page of each surface, and its OpenAPI description, compared with the tables of routes in both directions. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { PART_EXPANSIONS } from '../../../src/dictionary/index.ts';
import { PARAMETERS } from '../../../src/query/native/parameters.ts';
import { OPTIONS_BY_PATH } from '../../../src/query/odata/query.ts';
import { DESCRIBED_ROUTES } from '../../../src/service/admin/routes.ts';
import { greeting } from '../../../src/service/front/greeting.ts';
import { DOCUMENTS, FRONT_PATHS } from '../../../src/service/front/paths.ts';
import { NATIVE_ROUTES } from '../../../src/service/native/routes.ts';
import { SERVICE_DEFAULTS } from '../../../src/service/options.ts';
import { SURFACE, SURFACES, type SurfaceName } from '../../../src/service/surface.ts';
import { floorPlan, listing, openHouse, photo, room, unit } from '../../support/builders.ts';
import { type Answer, startTestService } from '../../support/service.ts';
import type { Json } from '../../support/world.ts';
import { resoFault } from './envelopes.ts';

const file = { open: async () => ({ type: 'image/svg+xml', body: '<svg/>' }) };
const plenty = { requests: 1_000_000, seconds: 60 };
const service = await startTestService(
  { after },
  {
    fill: async ({ write }) => {
      await write('Member', { MemberKey: 'A1', MemberFullName: 'Ann', OfficeKey: 'O1' });
      await write('Office', { OfficeKey: 'O1', OfficeName: 'One' });
      const own = { OriginatingSystemID: 'M1', ListAgentKey: 'A1', ListOfficeKey: 'O1' };
      const children = {
        Media: [
          floorPlan('F1'),
          photo('P1'),
          ...['Video', 'Unbranded Virtual Tour', 'Document'].map((MediaCategory, at) => {
            return { MediaKey: `M${at}`, MediaCategory, MediaURL: `https://a.example/${at}` };
          }),
        ],
        Rooms: [room('R1')],
        UnitTypes: [unit('U1')],
        OpenHouses: [openHouse('H1')],
      };
      await write(
        'Property',
        listing('1', {
          ...own,
          ...children,
          ListPrice: 1,
          City: 'Rome',
          Pier: 'long',
          PrivateRemarks: 'for agents',
        }),
      );
    },
    settings: {
      declarations: {
        customFields: [
          {
            resource: 'Property',
            name: 'Pier',
            group: 'Water',
            label: 'Pier',
            type: 'string(20)',
            class: 'idx',
          },
        ],
      },
    },
    service: {
      files: [file],
      limits: { api: plenty, replication: plenty, floorplans: plenty, admin: plenty },
    },
  },
);
const { addresses } = service;
const TOKENS: Readonly<Record<SurfaceName, string>> = {
  api: await service.key('api'),
  replication: await service.key('replication'),
  floorplans: await service.key('floorplans', { systems: ['M1'] }),
  admin: await service.key('admin'),
};
/** The full test run sends every parameter to every entity set. */
const isFull = process.env.PLAT_FULL === '1';
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

interface Operation {
  readonly parameters?: readonly {
    readonly $ref?: string;
    readonly name?: string;
    readonly in?: string;
    readonly schema?: Json;
  }[];
  readonly security?: readonly unknown[];
  readonly requestBody?: unknown;
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>;
}
interface Described {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly parameters: Readonly<
      Record<
        string,
        { readonly name: string; readonly required?: boolean; readonly in: string; readonly schema?: Json }
      >
    >;
    readonly schemas: Readonly<
      Record<
        string,
        { readonly properties?: Json; readonly allOf?: readonly { readonly properties?: Json }[] }
      >
    >;
  };
}

async function describe(surface: SurfaceName, token?: string): Promise<Described> {
  const answer = await service.get(surface, '/openapi.json', { token });
  assert.equal(answer.status, 200, answer.text);
  return JSON.parse(answer.text);
}

const page = (surface: SurfaceName, accept = BROWSER): Promise<Answer> =>
  service.get(surface, '/', { headers: { accept } });

test('a browser gets a start page on every surface, without scripts or external resources', async () => {
  for (const surface of SURFACES) {
    const { status, headers, text } = await page(surface);
    assert.deepEqual([status, headers['content-type']], [200, 'text/html; charset=utf-8']);
    const policy = String(headers['content-security-policy']);
    assert.match(policy, /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; base-uri 'none'/);
    assert.doesNotMatch(text, /<script|<link|<img|style=|@import|url\(|\son\w+=/i);
    const addressed = [...text.matchAll(/\b(?:href|src)="([^"]*)"/g)].map(([, at = '']) => at);
    assert.ok(addressed.length >= DOCUMENTS.length + 1);
    for (const at of addressed) assert.ok(at.startsWith(`${addresses[surface]}/`), at);
    for (const at of addressed.filter((each) => !each.includes('metadata'))) {
      assert.equal((await service.get(surface, at)).status, 200, at);
    }
    assert.equal(
      headers.link,
      `<${addresses[surface]}/openapi.json>; rel="service-desc"; type="application/json"`,
    );
    const head = await service.get(surface, '/', { method: 'HEAD', headers: { accept: BROWSER } });
    assert.deepEqual([head.status, head.text], [200, '']);
  }
});

test('the curl lines of the start page work unchanged with a token', async () => {
  for (const surface of SURFACES) {
    const { text } = await page(surface);
    const plain = text.replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
    const lines = plain.split('\n').flatMap((line) => /^curl .*'/.exec(line)?.[0] ?? []);
    assert.ok(lines.length >= 2);
    for (const line of lines) {
      // execFile is asynchronous, so the service in this process can respond.
      const [status] = await run(
        `${line.replace('curl', "curl -s -o /dev/null -w '%{http_code}'")}`,
        TOKENS[surface],
      );
      assert.equal(status, '200', line);
    }
  }
});

function run(line: string, token: string): Promise<[string]> {
  return new Promise((resolve, reject) => {
    execFile('sh', ['-c', line], { env: { ...process.env, TOKEN: token } }, (error, out) =>
      error === null ? resolve([out]) : reject(error),
    );
  });
}

test('the start page uses the address of the request, and escapes a public URL', async () => {
  const other = `http://127.0.0.2:${new URL(addresses.api).port}`;
  const all = await startTestService({ after }, { listen: { host: '0.0.0.0' } });
  const at = `http://127.0.0.2:${new URL(all.addresses.api).port}`;
  assert.notEqual(at, other);
  const { text } = await all.get('api', `${at}/`, { headers: { accept: BROWSER, host: 'evil.example' } });
  assert.ok(text.includes(`&#39;${at}/v1/listings?_limit=2&#39;`) && !text.includes('evil'), text);
  const { body } = greeting({ base: `https://a.example/<b>'"&`, surface: SURFACE.api });
  assert.ok(!body.join('').includes('<b>') && !body.join('').includes('"&"'));
  assert.ok(body.join('').includes(' &#39;https://a.example/&#60;b&#62;&#39;\\&#39;&#39;&#34;&#38;/v1/'));
});

test('other clients get 404 at /, with a Link header to the description', async () => {
  for (const accept of [
    '*/*',
    'application/json',
    'application/json, text/html;q=0.9',
    'text/html;q=0',
    '',
  ]) {
    const answer = await page('api', accept);
    assert.deepEqual(resoFault(answer), [404, 'pathNotFound', 'There is nothing at /.'], accept);
    assert.equal(
      answer.headers.link,
      `<${addresses.api}/openapi.json>; rel="service-desc"; type="application/json"`,
    );
  }
  const asked = await service.get('api', '/', { method: 'POST', headers: { accept: BROWSER } });
  assert.deepEqual([asked.status, asked.headers.allow], [405, 'GET, HEAD, OPTIONS']);
  for (const path of [
    '/documents/',
    '/documents/security.md',
    '/documents/../odata.md',
    '/documents/%2e%2e/odata.md',
  ]) {
    assert.equal((await service.get('api', path)).status, 404, path);
  }
  for (const path of ['/Reso/OData/', '/v1/system']) {
    const { headers } = await service.get('api', path, { token: TOKENS.api });
    assert.match(String(headers.link), /rel="service-desc"/);
  }
});

test('a path that nearly is one of an interface gets 404 with that path', async () => {
  for (const [path, nearest] of [
    ['/reso/odata/Property', '/Reso/OData/Property'],
    ['/Reso/Odata', '/Reso/OData/'],
    ['/V1/listings/7', '/v1/listings/7'],
    ['/v1/listing/7', '/v1/listings/7'],
  ]) {
    const { status, text } = await service.get('api', path ?? '', { token: TOKENS.api });
    assert.equal(status, 404);
    assert.ok(text.includes(`"There is nothing at ${path}. Did you mean ${nearest}?"`), text);
  }
  const { text } = await service.get('api', '/v1/listings/7/photo', { token: TOKENS.api });
  assert.ok(text.includes('"There is nothing at /v1/listings/7/photo."'), text);
});

const validator = new Validator();

test('the description of each surface is valid OpenAPI 3.1, with and without a token', async () => {
  for (const surface of SURFACES) {
    for (const token of isFull || surface === 'api' ? [undefined, TOKENS[surface]] : [TOKENS[surface]]) {
      const described = await describe(surface, token);
      const { valid, errors } = await validator.validate(JSON.parse(JSON.stringify(described)));
      assert.ok(valid, JSON.stringify(errors));
      assert.equal(described.openapi, '3.1.0');
      assert.deepEqual(described.servers, [{ url: addresses[surface] }]);
      const ids = Object.values(described.paths)
        .flatMap(Object.values)
        // Generators of clients drop separators: get_PropertyRooms and get_Property_Rooms became one name.
        .map(({ operationId }) => operationId.replaceAll(/[^a-z]/gi, '').toLowerCase());
      assert.equal(new Set(ids).size, ids.length);
    }
  }
});

test('linters and generators of clients can use a description', async () => {
  for (const surface of SURFACES) {
    const described = await describe(surface, TOKENS[surface]);
    assert.deepEqual(
      Object.keys(described.paths).filter((path) => path.endsWith('/') && path !== '/'),
      [],
    );
    // A generated type of an object without members has none, so that no member can be read.
    const isOpaque = ({ type, properties, additionalProperties, items }: Json): boolean =>
      (type === 'object' && properties === undefined && additionalProperties === undefined) ||
      (type === 'array' && items === undefined);
    const opaque: Json[] = [];
    JSON.stringify(described, (_, value) => {
      if (typeof value === 'object' && value !== null && isOpaque(value)) opaque.push(value);
      return value;
    });
    assert.deepEqual(opaque, [], surface);
  }
});

test('a description contains nothing that the key may not see, and no fields without a key', async () => {
  const fieldsOf = ({ components }: Described, name: string): string[] =>
    Object.keys(components.schemas[name]?.properties ?? {});
  const expandedBy = ({ components }: Described, name: string): string[] =>
    Object.keys(components.schemas[`${name}Expanded`]?.allOf?.[1]?.properties ?? {});
  const general = await describe('api');
  assert.deepEqual([fieldsOf(general, 'Property'), expandedBy(general, 'Property')], [[], []]);
  assert.ok(!JSON.stringify(general).includes('PrivateRemarks'));
  const whole = await describe('api', TOKENS.api);
  const idx = await describe('api', await service.key('api', { role: 'idx' }));
  assert.ok(fieldsOf(whole, 'Property').includes('PrivateRemarks'));
  assert.ok(fieldsOf(idx, 'Property').includes('ListPrice'));
  assert.ok(!JSON.stringify(idx).includes('PrivateRemarks'));
  const { json } = await service.get('api', "/Reso/OData/Property('1')?$expand=*", { token: TOKENS.api });
  const given = Object.keys(json).filter((name) => !name.startsWith('@'));
  assert.ok(given.includes('Media') && given.includes('ListAgent') && given.includes('CustomFields'));
  assert.deepEqual(
    [...fieldsOf(whole, 'Property'), ...expandedBy(whole, 'Property')].toSorted(),
    given.toSorted(),
  );
  const everything = PART_EXPANSIONS.join();
  const native = await service.get('api', `/v1/listings/1?_expand=${everything}`, { token: TOKENS.api });
  const [one] = JSON.parse(native.text).D.Results;
  const { allOf } = Object(whole.components.schemas.NativeListing?.properties?.StandardFields);
  assert.deepEqual(
    allOf.flatMap((schema: unknown) => Object.keys(propertiesOf(schema))).toSorted(),
    Object.keys(one.StandardFields).toSorted(),
  );
  const plans = await describe('floorplans', TOKENS.floorplans);
  assert.deepEqual(Object.keys(plans.components.schemas), ['Media']);
  assert.ok(!JSON.stringify(plans.paths).includes('odata-deltatoken'), 'floor plans have no delta links');
  for (const [token, status] of [
    ['nobody', 401],
    [TOKENS.replication, 403],
  ] as const) {
    assert.equal((await service.get('api', '/openapi.json', { token })).status, status);
  }
});

function propertiesOf(schema: unknown): object {
  assert.ok(typeof schema === 'object' && schema !== null && 'properties' in schema);
  assert.ok(typeof schema.properties === 'object' && schema.properties !== null);
  return schema.properties;
}

test('every route in the tables is in the description', async () => {
  const pathsOf = async (surface: SurfaceName): Promise<string[]> =>
    Object.keys((await describe(surface, TOKENS[surface])).paths);
  const front = FRONT_PATHS.map(({ path }) => path);
  assert.deepEqual(
    (await pathsOf('admin')).toSorted(),
    [...new Set([...front, ...DESCRIBED_ROUTES.map(({ path }) => path)])].toSorted(),
  );
  for (const surface of ['api', 'replication'] as const) {
    const paths = new Set(await pathsOf(surface));
    for (const { path } of NATIVE_ROUTES) assert.ok(paths.has(`/v1/${path}`), path);
    const { json } = await service.get(surface, '/Reso/OData/', { token: TOKENS[surface] });
    const sets = JSON.parse(JSON.stringify(json)).value.map(({ name }: { name: string }) => name);
    assert.ok(sets.length >= 9);
    for (const set of sets) {
      // Entries of the sequence of changes have no digests: each store has its own.
      const isCompared = surface === 'replication' && set !== 'EntityEvent';
      for (const end of ['', '/$count', '/$query', ...(isCompared ? ['/$digests'] : [])]) {
        assert.ok(paths.has(`/Reso/OData/${set}${end}`), `${set}${end}`);
      }
      const records = [...paths].filter((path) => path.startsWith(`/Reso/OData/${set}(`));
      assert.ok(records.length >= 3, set);
    }
    const described = [...paths].filter((path) => path.startsWith('/Reso/OData/Property('));
    const metadata = await service.get(surface, '/Reso/OData/$metadata?$format=json', {
      token: TOKENS[surface],
    });
    const [, types] = Object.entries(metadata.json).find(([name]) => !name.startsWith('$')) ?? [];
    const navigations = Object.entries(propertiesAmong(types, 'Property'))
      .filter(([, each]) => each.$Kind === 'NavigationProperty')
      .map(([name]) => `/Reso/OData/Property('{key}')/${name}`);
    assert.ok(navigations.length > 8);
    const ends = ['', '/{field}', '/{field}/$value', '/CustomFields/$count'].map(
      (end) => `/Reso/OData/Property('{key}')${end}`,
    );
    assert.deepEqual(described.toSorted(), [...ends, ...navigations].toSorted());
  }
});

function propertiesAmong(types: unknown, name: string): Record<string, { $Kind?: string }> {
  return JSON.parse(JSON.stringify(types))[name];
}

/** Parameter values for paths with field names of their own. */
const OWN_VALUES: readonly (readonly [begin: string, values: Readonly<Record<string, string>>])[] = [
  ['/v1/accounts', { _filter: "Name Eq 'Ann'", _orderby: '+Name', _select: 'Name' }],
  ['/v1/listings/{key}/', { _select: 'Id' }],
  ['/v1/openhouses', { _filter: 'Date Gt 2026-01-01', _orderby: '+Date', _select: 'Date' }],
  ['/v1/my/account', { _select: 'Name' }],
  ['/Reso/$metadata', { $format: 'xml' }],
];

test('every described path works with each of its parameters', async () => {
  const values: Readonly<Record<string, string>> = {
    $filter: 'true',
    $orderby: "length('a')",
    $select: '*',
    $expand: '*',
    $compute: '1 add 1 as Two',
    $search: 'house',
    $count: 'true',
    $top: '1',
    $skip: '0',
    $skiptoken: '',
    $format: 'json',
    _filter: 'ListPrice Gt 1',
    _orderby: '+ListPrice',
    _select: 'ListPrice',
    _expand: 'Photos',
    _limit: '1',
    _skip: '0',
    _skiptoken: '',
    _page: '1',
    _pagination: '1',
    _lat: '46.8',
    _lon: '-96.8',
    _distance: '1',
    fields: 'City',
    histogram: 'ListPrice',
    edges: '1,2',
    source: 'none',
    resources: 'Property,Media',
    since: 'start',
    records: 'true',
    skip: '0',
    limit: '1',
  };
  let asked = 0;
  for (const surface of SURFACES) {
    const described = await describe(surface, TOKENS[surface]);
    for (const [path, item] of Object.entries(described.paths)) {
      for (const [method, operation] of Object.entries(item)) {
        // Requests that change something have tests of their own (test/service/console/).
        const isEndless = Object.keys(operation.responses['200']?.content ?? {}).includes(
          'text/event-stream',
        );
        if (surface === 'admin' && (method !== 'get' || isEndless)) continue;
        // Of an endless response, only the head is requested (test/service/events/).
        const asks = isEndless ? 'HEAD' : method.toUpperCase();
        const parameters = (operation.parameters ?? []).flatMap(({ $ref, name, in: place }) => {
          if (name !== undefined) return place === 'query' ? [{ name, required: false, in: place }] : [];
          const found = described.components.parameters[String($ref).split('/').at(-1) ?? ''];
          return found === undefined ? [] : [found];
        });
        const inQuery = parameters.filter((each) => each.in === 'query');
        const at = await placeOf(surface, path);
        const own = { ...values, ...OWN_VALUES.find(([begin]) => path.startsWith(begin))?.[1] };
        // $digests is tested without $expand, which not every resource has; a $deltatoken is of one key and collection.
        const compared = path.endsWith('$digests') ? ['$expand'] : ['$deltatoken'];
        const isTried =
          isFull || (surface !== 'replication' && !/OData\/(?!Property|EntityEvent)|Media/.test(path));
        const taken = inQuery.filter(({ name }) => isTried && !compared.includes(name));
        const give = (names: readonly string[]): string =>
          names.map((name) => `${name}=${own[name] ?? assert.fail(name)}`).join('&');
        const required = inQuery.filter((each) => each.required === true).map(({ name }) => name);
        const ways = [
          give(required),
          ...taken.map(({ name }) => give([...required.filter((each) => each !== name), name])),
        ];
        for (const way of ways) {
          const body = operation.requestBody === undefined ? undefined : '$top=1';
          const options = {
            token: TOKENS[surface],
            method: asks,
            ...(body === undefined ? {} : { body }),
          };
          const type: Record<string, string> = path === '/' ? { accept: BROWSER } : {};
          const url = way === '' ? at : `${at}?${way}`;
          const answer = await service.get(surface, url, { ...options, headers: type });
          asked++;
          const statuses = Object.keys(operation.responses).filter((status) => status !== '304');
          assert.ok(
            statuses.includes(String(answer.status)),
            `${surface} ${method} ${url} ${answer.status} ${answer.text}`,
          );
          if (answer.status === 204) continue;
          const { etag } = answer.headers;
          assert.equal(etag !== undefined, '304' in operation.responses, `${url} ${etag}`);
          for (const condition of ['If-Match', 'If-None-Match']) {
            const known = parameters.some(({ name }) => name === condition);
            assert.equal(etag !== undefined, known, `${url} ${condition}`);
          }
          if (etag !== undefined) {
            const again = { ...options, headers: { ...type, 'if-none-match': String(etag) } };
            assert.equal((await service.get(surface, url, again)).status, 304, url);
            const other = { ...options, headers: { ...type, 'if-match': '"other"' } };
            assert.equal((await service.get(surface, url, other)).status, 412, url);
          }
          const types = Object.keys(operation.responses['200']?.content ?? {});
          const [given = ''] = String(answer.headers['content-type'] ?? types[0]).split(';');
          assert.ok(types.includes(given) || types.includes('*/*'), `${url} ${given}`);
        }
        if (operation.security?.length === 0 && !path.includes('{')) {
          const headers = { accept: BROWSER };
          assert.equal((await service.get(surface, at, { headers })).status, 200);
        } else if (operation.security === undefined) {
          assert.equal((await service.get(surface, at, { method: asks })).status, 401);
        }
      }
    }
  }
  assert.ok(asked > (isFull ? 900 : 350), String(asked));
});

test('a path accepts the smallest and the largest number that its description allows, and none beyond them', async () => {
  const { components } = await describe('api');
  const ask = async (name: string, value: number): Promise<number> => {
    const path = `/v1/listings?${name}=${value}`;
    return (await service.get('api', path, { token: TOKENS.api })).status;
  };
  let tried = 0;
  for (const [name, schema] of ['_limit', '_skip', '_page'].map(
    (each) => [each, components.parameters[`native${each.replace('_', '-')}`]?.schema ?? {}] as const,
  )) {
    const { minimum, maximum } = schema;
    for (const [limit, step] of [[minimum, -1] as const, [maximum, 1] as const]) {
      if (typeof limit !== 'number') continue;
      tried++;
      assert.deepEqual(
        [await ask(name, limit), await ask(name, limit + step)],
        [200, 400],
        `${name} ${limit}`,
      );
    }
  }
  assert.equal(tried, 5);
});

/** Replaces the parameters of a path by values of existing records. */
async function placeOf(surface: SurfaceName, path: string): Promise<string> {
  if (path.startsWith('/media/')) {
    const { text } = await service.get('api', '/v1/listings/1/floorplans', { token: TOKENS.api });
    return String(/"[^"]*(\/media\/[^"]*)"/.exec(text)?.[1]);
  }
  if (path.startsWith('/as/') || path.startsWith('/keys/')) {
    const [key] = await service.store.keys.list();
    const names: Readonly<Record<string, string | undefined>> = {
      role: 'private',
      id: key?.id,
      surface: 'api',
      path: 'Reso/OData/Property',
      resource: 'Property',
      collection: 'listings',
    };
    return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => names[name] ?? assert.fail(name));
  }
  if (path.startsWith('/documents/')) return '/documents/odata.md';
  if (path.startsWith('/v1/')) {
    const [, part] = /\/listings\/\{key\}\/(\w+)\/\{id\}/.exec(path) ?? [];
    return path
      .replace('listings/{key}', 'listings/1')
      .replace('accounts/{key}', 'accounts/A1')
      .replace('{id}', part === undefined ? '' : await partOf(part))
      .replace('customfields/{name}', 'customfields/Pier')
      .replace('standardfields/{name}', 'standardfields/ListPrice');
  }
  const [, root = '', set = ''] = /^(.*\/)(\w+)\('?\{key\}'?\)/.exec(path) ?? [];
  if (set === '') return path;
  const { json } = await service.get(surface, `${root}${set}?$top=1`, { token: TOKENS[surface] });
  const [first] = JSON.parse(JSON.stringify(json)).value;
  const [field = '', key] =
    Object.entries(first).find(([name]) => /Key$|^EntityEventSequence$/.test(name)) ?? [];
  return path.replace('{key}', encodeURIComponent(String(key))).replace('{field}', field);
}

async function partOf(part: string): Promise<string> {
  const { text } = await service.get('api', `/v1/listings/1/${part}`, { token: TOKENS.api });
  return JSON.parse(text).D.Results[0]?.Id ?? 'none';
}

test('a path refuses parameters that its description does not list', async () => {
  for (const { path, takes } of NATIVE_ROUTES.filter(({ path: each }) => !each.includes('{'))) {
    for (const name of PARAMETERS.filter((each) => !takes.includes(each))) {
      const { status } = await service.get('api', `/v1/${path}?${name}=1`, { token: TOKENS.api });
      assert.equal(status, 400, `${path} ${name}`);
    }
  }
  for (const [path, kind] of [
    ["Property('1')", 'record'],
    ['Property/$count', 'count'],
    ["Property('1')/City", 'field'],
  ] as const) {
    for (const name of OPTIONS_BY_PATH.collection) {
      if (OPTIONS_BY_PATH[kind].has(name)) continue;
      const { status } = await service.get('api', `/Reso/OData/${path}?$${name}=1`, { token: TOKENS.api });
      assert.equal(status, 400, `${path} ${name}`);
    }
  }
});

test('a request for the description counts against the limit of a key, and has no limit without a key', async () => {
  const limits = { ...SERVICE_DEFAULTS.limits, api: { requests: 1, seconds: 300 } };
  const bounded = await startTestService({ after }, { service: { limits } });
  const token = await bounded.key('api');
  const statuses = [];
  for (const each of [token, token, undefined, undefined]) {
    statuses.push((await bounded.get('api', '/openapi.json', { token: each })).status);
  }
  assert.deepEqual(statuses, [200, 429, 200, 200]);
});
