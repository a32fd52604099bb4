/** Contract, RESO interface: OData-Version, formats, preferences and errors. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { SurfaceName } from '../../../src/service/surface.ts';
import { listing, photo } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';
import { readAnswer, sendRaw } from '../http/raw.ts';
import { asker } from './asker.ts';

const service = await startTestService(
  { after },
  {
    fill: async ({ write }) => {
      await write(
        'Property',
        listing('1', { ListPrice: 5, Media: [photo('P1', { Order: 1 })], View: ['City Lights'] }),
        listing('2'),
      );
    },
  },
);
const token = await service.key('replication');
const feed = asker(service, 'replication', token);

const versionOf = async (
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<[number, unknown]> => {
  const answer = await feed.get(path, { headers });
  return [answer.status, answer.headers['odata-version']];
};

test('OData-Version is 4.01, or 4.0 on request', async () => {
  const cases: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
    [{}, '4.01'],
    [{ 'odata-version': '4.0' }, '4.0'],
    [{ 'odata-version': '4.01' }, '4.01'],
    [{ 'odata-maxversion': '4.0' }, '4.0'],
    [{ 'odata-maxversion': '4.01' }, '4.01'],
    [{ 'odata-maxversion': '4.02' }, '4.01'],
    [{ 'odata-maxversion': '5.0' }, '4.01'],
    [{ 'odata-version': '4.01', 'odata-maxversion': '4.0' }, '4.0'],
    [{ 'odata-version': '4.0', 'odata-maxversion': '4.01' }, '4.0'],
  ];
  for (const [headers, version] of cases) {
    for (const path of [
      '',
      '$metadata',
      'Property',
      "Property('1')",
      'Property/$count',
      "Property('1')/ListPrice",
    ]) {
      assert.deepEqual(await versionOf(path, headers), [200, version], `${path} ${JSON.stringify(headers)}`);
    }
  }
});

test('an unknown OData-Version or an OData-MaxVersion below 4.0 gets 400', async () => {
  for (const version of ['4.02', '5.0', '3.0', '1.0', 'x', '']) {
    const answer = await feed.get('Property', { headers: { 'odata-version': version } });
    assert.deepEqual([answer.status, answer.headers['odata-version']], [400, '4.01']);
    assert.deepEqual(answer.json, {
      error: {
        code: 'versionUnsupported',
        message: `OData-Version ${JSON.stringify(version)} is not supported; 4.0 and 4.01 are.`,
      },
    });
  }
  for (const version of ['3.0', 'x']) {
    const answer = await feed.get('Property', { headers: { 'odata-maxversion': version } });
    const message = `OData-MaxVersion ${JSON.stringify(version)} is not supported; 4.0 and 4.01 are.`;
    assert.deepEqual([answer.status, answer.json], [400, { error: { code: 'versionUnsupported', message } }]);
  }
});

test('every response has OData-Version: errors, 204, 304, HEAD and OPTIONS, too', async () => {
  const etag = String((await feed.get("Property('1')")).headers.etag);
  const answers: readonly (readonly [number, string, Parameters<typeof feed.get>[1]])[] = [
    [401, 'Property', { token: undefined }],
    [401, 'Property', { token: 'plat_unknown' }],
    [400, 'Property?$top=x', {}],
    [400, 'Property?access_token=1', {}],
    [404, 'Nothing', {}],
    [404, "Property('9')", {}],
    [405, 'Property', { method: 'POST' }],
    [405, "Property('1')", { method: 'DELETE' }],
    [204, "Property('1')/ListAgent", {}],
    [304, "Property('1')", { headers: { 'if-none-match': etag } }],
    [406, 'Property', { headers: { accept: 'text/html' } }],
    [414, `Property?$filter=${'x'.repeat(17_000)}`, {}],
    [204, 'Property', { method: 'OPTIONS' }],
    [200, 'Property', { method: 'HEAD' }],
  ];
  const limit = { 'odata-maxversion': '4.0' };
  for (const [status, path, options] of [...answers, [404, '../../nowhere', {}] as const]) {
    for (const [limits, version] of [[{}, '4.01'] as const, [limit, '4.0'] as const]) {
      const answer = await feed.get(path, { ...options, headers: { ...options?.headers, ...limits } });
      assert.deepEqual(
        [answer.status, answer.headers['odata-version']],
        [status, version],
        path.slice(0, 40),
      );
    }
  }
  const unsupported = { ...limit, 'odata-version': '5.0' };
  assert.deepEqual(await versionOf('Property', unsupported), [400, '4.0']);
});

test('requests that are refused before routing get OData-Version unless the path is native', async () => {
  const version = async (surface: SurfaceName, request: string): Promise<[number, unknown]> => {
    const { status, headers } = readAnswer(await sendRaw(service.addresses[surface], request));
    return [status, headers['odata-version']];
  };
  const huge = `X: ${'a'.repeat(70_000)}`;
  assert.deepEqual(await version('replication', 'no HTTP\r\n\r\n'), [400, '4.01']);
  assert.deepEqual(await version('replication', 'FETCH /Reso/OData/ HTTP/1.1\r\n\r\n'), [405, '4.01']);
  const hostless = 'HTTP/1.1\r\nConnection: close\r\n\r\n';
  assert.deepEqual(
    await version('replication', `GET / HTTP/1.1\r\nHost: x\r\n${huge}\r\nConnection: close\r\n\r\n`),
    [431, '4.01'],
  );
  assert.deepEqual(await version('replication', `GET /Reso/OData/ ${hostless}`), [400, '4.01']);
  assert.deepEqual(await version('replication', `GET /v1x ${hostless}`), [400, '4.01']);
  assert.deepEqual(await version('replication', `GET /v2/listings ${hostless}`), [400, undefined]);
  assert.deepEqual(await version('replication', `GET /v1/listings ${hostless}`), [400, undefined]);
  for (const [path, wanted] of [['/v1x', '4.01'] as const, ['/v2/listings', undefined] as const]) {
    const { headers } = await service.get('replication', path, { token });
    assert.equal(headers['odata-version'], wanted, path);
  }
});

test('collections and records are JSON for every Accept and $format that allows it', async () => {
  const type = 'application/json;odata.metadata=minimal;charset=utf-8';
  for (const path of ['', 'Property', "Property('1')", "Property('1')/ListPrice"]) {
    const query = path.includes('?') ? '&' : '?';
    assert.equal((await feed.get(path)).headers['content-type'], type);
    const accepts = [
      'application/json',
      'application/json;odata.metadata=minimal',
      'application/*',
      '*/*',
      'text/html, */*;q=0.1',
      'application/xml;q=0.9, application/json;q=0.1',
      '',
    ];
    for (const accept of accepts) {
      const answer = await feed.get(path, { headers: { accept } });
      assert.deepEqual([answer.status, answer.headers['content-type']], [200, type], `${path} ${accept}`);
    }
    for (const format of ['json', 'application/json', 'application/json;odata.metadata=minimal']) {
      const answer = await feed.get(`${path}${query}$format=${format}`, {
        headers: { accept: 'application/xml' },
      });
      assert.equal(answer.status, 200, `${path} ${format}: $format takes precedence over Accept`);
    }
  }
});

test('an unavailable format gets 406 with a message that names the excluding header or option', async () => {
  for (const accept of ['application/xml', 'text/html', 'application/json;q=0', 'image/*']) {
    assert.deepEqual(await feed.error('Property', { accept }), [
      406,
      'notAcceptable',
      'The Accept header excludes everything that is offered here: application/json.',
    ]);
  }
  for (const format of ['xml', 'atom', 'application/xml', 'text/csv']) {
    assert.deepEqual(await feed.error(`Property?$format=${format}`), [
      406,
      'notAcceptable',
      '$format excludes everything that is offered here: application/json.',
    ]);
  }
  for (const format of ['xml', 'constructor', '__proto__']) {
    const refused = await feed.error(`Property('1')?$format=${format}`);
    assert.deepEqual(refused.slice(0, 2), [406, 'notAcceptable'], format);
  }
});

test('$metadata is XML by default, and JSON by Accept or $format', async () => {
  const typeOf = async (query: string, accept?: string): Promise<unknown> =>
    (await feed.get(`$metadata${query}`, accept === undefined ? {} : { headers: { accept } })).headers[
      'content-type'
    ];
  const xml = 'application/xml; charset=utf-8';
  const json = 'application/json; charset=utf-8';
  assert.equal(await typeOf(''), xml);
  assert.equal(await typeOf('', '*/*'), xml);
  assert.equal(await typeOf('', 'application/xml'), xml);
  assert.equal(await typeOf('', 'text/xml'), 'text/xml; charset=utf-8');
  assert.equal(await typeOf('', 'application/json'), json);
  assert.equal(await typeOf('', 'application/json, application/xml'), xml);
  assert.equal(await typeOf('', 'application/json, application/xml;q=0.5'), json);
  assert.equal(await typeOf('?$format=json', 'application/xml'), json);
  assert.equal(await typeOf('?$format=application/json'), json);
  assert.equal(await typeOf('?$format=xml', 'application/json'), xml);
  assert.equal(await typeOf('?$format=application/xml', 'application/json'), xml);
  assert.deepEqual(await feed.error('$metadata', { accept: 'text/html' }), [
    406,
    'notAcceptable',
    'The Accept header excludes everything that is offered here: application/xml, text/xml, application/json.',
  ]);
});

test('a 4.0 client gets $metadata as XML even if it accepts only JSON, and as JSON only by $format', async () => {
  for (const header of ['odata-maxversion', 'odata-version']) {
    const typeOf = async (accept: string, query = ''): Promise<unknown> => {
      const { status, headers } = await feed.get(`$metadata${query}`, {
        headers: { [header]: '4.0', accept },
      });
      return status === 200 ? headers['content-type'] : status;
    };
    const xml = 'application/xml; charset=utf-8';
    assert.equal(await typeOf('application/json'), xml);
    assert.equal(await typeOf('application/json;odata.metadata=minimal, */*;q=0.1'), xml);
    assert.equal(await typeOf('application/json, text/xml;q=0.5'), 'text/xml; charset=utf-8');
    assert.equal(await typeOf('text/html'), 406);
    assert.equal(await typeOf('application/xml', '?$format=json'), 'application/json; charset=utf-8');
  }
});

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

test('Prefer: omit-values=nulls omits nulls and empty lists', async () => {
  const whole = await feed.record("Property('2')");
  assert.deepEqual([whole.ListPrice, whole.View], [null, []]);
  const filled = Object.entries(whole).filter(([, value]) => value !== null && !isEmptyList(value));
  for (const prefer of [
    'omit-values=nulls',
    'odata.omit-values=nulls',
    'omit-values="nulls"',
    'Omit-Values=nulls;x=1',
  ]) {
    const { headers, json } = await feed.get("Property('2')", { headers: { prefer } });
    assert.equal(headers['preference-applied'], 'omit-values=nulls', prefer);
    const { '@odata.context': _, ...record } = json;
    assert.deepEqual(record, Object.fromEntries(filled));
  }
  const page = await feed.page('Property?$select=ListingKey,ListPrice,City,View', {
    prefer: 'omit-values=nulls',
  });
  assert.deepEqual(page.rows, [
    { ListingKey: '1', ListPrice: 5, View: ['City Lights'] },
    { ListingKey: '2' },
  ]);
  const expanded = await feed.page(
    'Property?$top=1&$select=ListingKey&$expand=Media($select=MediaKey,Order,ShortDescription)',
    {
      prefer: 'omit-values=nulls',
    },
  );
  assert.deepEqual(expanded.rows, [{ ListingKey: '1', Media: [{ MediaKey: 'P1', Order: 1 }] }]);
  assert.equal(
    (await feed.get("Property('2')", { headers: { prefer: 'omit-values=defaults' } })).headers[
      'preference-applied'
    ],
    undefined,
  );
});

test('of repeated preferences the first counts; parameters and quoted texts are not preferences', async () => {
  const applied = async (prefer: string): Promise<unknown> =>
    (await feed.page('Property', { prefer })).answer.headers['preference-applied'];
  assert.equal(
    await applied('odata.maxpagesize=1, omit-values=nulls'),
    'odata.maxpagesize=1, omit-values=nulls',
  );
  assert.equal(await applied('maxpagesize=1, maxpagesize=2'), 'odata.maxpagesize=1');
  assert.equal(await applied('respond-async, wait=10 ; maxpagesize=1'), undefined);
  assert.equal(await applied('x="maxpagesize=1, omit-values=nulls", maxpagesize=2'), 'odata.maxpagesize=2');
  for (const wrong of [
    'maxpagesize=0',
    'maxpagesize=-1',
    'maxpagesize=x',
    'maxpagesize',
    'maxpagesize=1.5',
  ]) {
    assert.equal(await applied(wrong), undefined, wrong);
  }
});

test('an error is {"error":{code,message,target}} without other members', async () => {
  const answer = await feed.get('Property?$filter=Lisprice eq 1');
  assert.equal(answer.status, 400);
  assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
  assert.deepEqual(answer.json, {
    error: {
      code: 'fieldUnknown',
      message: '$filter: Property has no field Lisprice at position 1. Did you mean ListPrice?',
      target: '$filter',
    },
  });
  const syntax = await feed.error('Property?$filter=ListPrice eq');
  assert.deepEqual(syntax.slice(0, 2), [400, 'syntax']);
  assert.match(syntax[2], /^\$filter: found the end at position 13, expected /);
});

test('HEAD returns the headers of GET without the body', async () => {
  for (const path of ['Property?$top=1', "Property('1')", '$metadata', 'Property/$count']) {
    const [get, head] = [await feed.get(path), await feed.get(path, { method: 'HEAD' })];
    assert.deepEqual([head.status, head.text], [get.status, '']);
    for (const name of ['content-type', 'content-length', 'etag', 'odata-version']) {
      assert.equal(head.headers[name], get.headers[name], `${path} ${name}`);
    }
  }
});
