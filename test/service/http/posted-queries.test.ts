/** Queries in the body of a POST (contract, Surfaces; OData 4.01 URL conventions, 4.17), and the links that continue them. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { SERVICE_DEFAULTS } from '../../../src/service/options.ts';
import { listing } from '../../support/builders.ts';
import { type Answer, type AskOptions, startTestService } from '../../support/service.ts';
import { nativeFault, resoFault } from './envelopes.ts';
import { open, readAnswer, sendRaw } from './raw.ts';

const CITIES = ['Rome', 'Utica', 'Ithaca'];
const service = await startTestService(
  { after },
  {
    fill: async ({ write }) => {
      const city = (at: number): string => CITIES[at % 3] ?? '';
      const make = (at: number) => listing(`K${1000 + at}`, { City: city(at), ListPrice: at });
      await write('Property', ...Array.from({ length: 30 }, (_, at) => make(at)));
    },
    service: { connections: { ...SERVICE_DEFAULTS.connections, requestSeconds: 0.3 } },
  },
);
const [api, replication] = [await service.key('api'), await service.key('replication')];
const QUERY = '/Reso/OData/Property/$query';
const TEXT = { 'content-type': 'text/plain' };
const OVERRIDE = { 'x-http-method-override': 'GET' };

const post = (path: string, body: string | Buffer, more: AskOptions = {}): Promise<Answer> =>
  service.get('api', path, { token: api, method: 'POST', headers: TEXT, body, ...more });
const keysIn = ({ status, text }: Answer): string[] => {
  assert.equal(status, 200, text);
  const { value }: { value: { ListingKey: string }[] } = JSON.parse(text);
  return value.map(({ ListingKey }) => ListingKey);
};

test('options in a body work like those in a URL, and both can be combined', async () => {
  const filter = "$filter=City%20eq%20'Rome'%20and%20ListPrice%20gt%203";
  const options = '$orderby=ListPrice%20desc&$top=2&$select=ListingKey,City&$count=true';
  const asked = await service.get('api', `/Reso/OData/Property?${filter}&${options}`, { token: api });
  assert.deepEqual(keysIn(asked), ['K1027', 'K1024']);
  const ways = [
    post(QUERY, `${filter}&${options}`),
    post(`${QUERY}?${options}`, filter),
    post(`/Reso/OData/Property/%24query/?${options}`, `${filter}\r\n`),
    // Unencoded, and encoded as a form.
    post(QUERY, `$filter=City eq 'Rome' and ListPrice gt 3&${options}`),
    post(QUERY, `filter=City+eq+%27Rome%27+and+ListPrice+gt+3&${options}`, {
      headers: { 'content-type': 'Application/X-WWW-Form-Urlencoded; charset="UTF-8"' },
    }),
    post(QUERY, `${filter}&${options}`, { headers: {} }),
    post(`/Reso/OData/Property?${options}`, filter, { headers: { ...TEXT, ...OVERRIDE } }),
    post(`/Reso/OData/Property?${filter}&${options}`, '', { headers: { 'X-Http-Method-Override': 'get' } }),
  ];
  for (const way of ways) {
    const answer = await way;
    assert.equal(answer.text, asked.text);
    assert.equal(answer.headers['x-plat-index'], 'cached', 'the filter list is shared');
  }
});

test('counts, records, metadata and the native interface accept posted queries, too', async () => {
  const count = await post('/Reso/OData/Property/$count/$query', "$filter=City eq 'Utica'");
  assert.deepEqual([count.status, count.text], [200, '10']);
  const one = await post("/Reso/OData/Property('K1001')/$query", '$select=City');
  assert.deepEqual([one.status, one.json.City], [200, 'Utica']);
  const json = await post('/Reso/OData/$metadata/$query', '$format=json');
  assert.equal(json.json.$Version, '4.01');
  const filter = "_filter=City Eq 'Rome'&_limit=3&_select=ListPrice";
  const asked = await service.get('api', `/v1/listings?${filter}`, { token: api });
  assert.equal(asked.status, 200, asked.text);
  for (const path of ['/v1/listings', '/v1/listings/$query']) {
    const answer = await post(path, filter, { headers: { ...TEXT, ...OVERRIDE } });
    if (path.endsWith('listings')) assert.equal(answer.text, asked.text);
    else assert.equal((await post(path, filter)).text, asked.text);
  }
});

test('the next links of a long query can be followed by GET, and return every row once', async () => {
  const keys = Array.from({ length: 1900 }, (_, at) => `'K${1000 + (at % 30)}${at < 30 ? '' : `-${at}`}'`);
  const filter = `$filter=ListingKey in (${keys.join(',')})`;
  for (const [surface, token] of [
    ['api', api],
    ['replication', replication],
  ] as const) {
    for (const order of ['', '&$orderby=ListPrice desc']) {
      const options = { token, method: 'POST', headers: { ...TEXT, prefer: 'odata.maxpagesize=7' } };
      let answer = await service.get(surface, QUERY, { ...options, body: filter + order });
      const found = keysIn(answer);
      for (;;) {
        const link = answer.json['@odata.nextLink'];
        if (link === undefined) break;
        assert.ok(String(link).length < 12_000 && URL.canParse(String(link)), String(link));
        assert.match(String(link), /\/Reso\/OData\/Property\?plat\.query=/);
        answer = await service.get(surface, String(link), {
          token,
          headers: { prefer: 'odata.maxpagesize=7' },
        });
        assert.equal(answer.headers['x-plat-index'], 'cached');
        found.push(...keysIn(answer));
      }
      const expected = Array.from({ length: 30 }, (_, at) => `K${1000 + at}`);
      assert.deepEqual(found, order === '' ? expected : expected.toReversed());
    }
  }
  const short = await post(QUERY, "$filter=City eq 'Rome'&$orderby=ListPrice", {
    headers: { ...TEXT, prefer: 'odata.maxpagesize=7' },
  });
  assert.match(
    String(short.json['@odata.nextLink']),
    /\/Property\?\$filter=City%20eq%20'Rome'&\$orderby=ListPrice&maxpagesize=7&\$skiptoken=/,
  );
});

test('a query that is too long for a link is refused if it needs one, before any row is sent', async () => {
  let seed = 1;
  const noise = (): string => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed.toString(36);
  };
  const keys = Array.from({ length: 1999 }, () => `'${noise()}${noise()}${noise()}'`);
  const filter = `$filter=ListingKey in (${keys.join(',')}) or City eq 'Rome'`;
  const whole = await post(QUERY, filter);
  assert.equal(keysIn(whole).length, 10, 'one page needs no link');
  const answer = await post(QUERY, filter, { headers: { ...TEXT, prefer: 'maxpagesize=7' } });
  const [status, code, message] = resoFault(answer);
  assert.deepEqual([status, code], [400, 'linkTooLong']);
  assert.match(
    String(message),
    /^The query has \d+ bytes and more rows than one page holds, .* Split the request\.$/,
  );
});

test('the next link of a URL of almost 16 KB can be requested', async () => {
  const path = '/Reso/OData/Property?$filter=ListingKey%20ne%20%27';
  const url = `${path}${'x'.repeat(16_384 - path.length - 3)}%27`;
  const first = await service.get('api', url, { token: api, headers: { prefer: 'maxpagesize=20' } });
  assert.equal(keysIn(first).length, 20);
  const second = await service.get('api', String(first.json['@odata.nextLink']), { token: api });
  assert.equal(keysIn(second).length, 10);
});

test('an invalid or oversized compressed query is refused, and its options are checked like any others', async () => {
  const packed = (text: string): string => deflateRawSync(text).toString('base64url');
  const ask = (value: string): Promise<Answer> =>
    service.get('api', `/Reso/OData/Property?plat.query=${value}`, { token: api });
  for (const value of [
    '',
    'x',
    '%00',
    packed('$top=1').slice(0, -3),
    packed(`$top=1&x=${'a'.repeat(400_000)}`),
  ]) {
    assert.deepEqual(resoFault(await ask(value)).slice(0, 2), [400, 'optionInvalid'], value.slice(0, 20));
  }
  assert.equal(keysIn(await ask(packed('$top=1'))).length, 1);
  assert.deepEqual(resoFault(await ask(packed('$top=1&$top=2'))).slice(0, 2), [400, 'optionRepeated']);
  assert.deepEqual(resoFault(await ask(packed('token=x'))).slice(0, 2), [400, 'tokenInQuery']);
  const twice = `${packed('$top=1')}&plat.query=${packed('$top=1')}`;
  assert.deepEqual(resoFault(await ask(twice)).slice(0, 2), [400, 'optionRepeated']);
  const posted = await post(QUERY, `plat.query=${twice}`);
  assert.deepEqual(resoFault(posted).slice(0, 2), [400, 'optionRepeated']);
  assert.equal(
    keysIn(await ask(packed(`plat.query=${packed('$top=1')}`))).length,
    30,
    'a query is decompressed only once',
  );
});

test('a body with an unsupported type or encoding, an excessive length or invalid options is refused', async () => {
  const message = (given: string): string =>
    `The body is ${given}. A query is read as text/plain or application/x-www-form-urlencoded, in UTF-8 and not compressed.`;
  for (const type of [
    'application/json',
    'text/html',
    'text/plain;charset=utf-16',
    'multipart/form-data; boundary=x',
  ]) {
    const answer = await post(QUERY, '$top=1', { headers: { 'content-type': type } });
    assert.deepEqual(resoFault(answer), [415, 'mediaTypeUnsupported', message(type)]);
  }
  const zipped = await post(QUERY, '$top=1', { headers: { ...TEXT, 'content-encoding': 'gzip' } });
  assert.deepEqual(resoFault(zipped), [415, 'mediaTypeUnsupported', message('the encoding gzip')]);
  const native = await post('/v1/listings/$query', '{}', { headers: { 'content-type': 'application/json' } });
  assert.deepEqual(nativeFault(native), [415, 1053, message('application/json')]);
  const most = 393_216;
  const head = '$filter=ListPrice gt 1&x=';
  assert.equal((await post(QUERY, head.padEnd(most, 'a'))).status, 200);
  const tooLong = 'The body is longer than 393216 bytes.';
  assert.deepEqual(resoFault(await post(QUERY, head.padEnd(most + 1, 'a'))), [413, 'bodyTooLarge', tooLong]);
  const streamed = await post(QUERY, head.padEnd(most + 1, 'a'), {
    headers: { ...TEXT, 'transfer-encoding': 'chunked' },
  });
  assert.deepEqual(resoFault(streamed), [413, 'bodyTooLarge', tooLong]);
  const bytes = await post(QUERY, Buffer.from([0x24, 0xff]));
  assert.deepEqual(resoFault(bytes).slice(0, 2), [400, 'requestMalformed']);
  assert.deepEqual(resoFault(await post(`${QUERY}?$top=1`, '$top=2')).slice(0, 2), [400, 'optionRepeated']);
  assert.deepEqual(resoFault(await post(QUERY, 'access_token=x')).slice(0, 2), [400, 'tokenInQuery']);
  assert.deepEqual(resoFault(await post(QUERY, '$filter=%zz')).slice(0, 2), [400, 'requestMalformed']);
});

test('POST is accepted only for queries: anything else gets 405 with Allow', async () => {
  const allowed = async (method: string, path: string, headers = {}): Promise<unknown[]> => {
    const { status, headers: given } = await service.get('api', path, { token: api, method, headers });
    return [status, given.allow];
  };
  const usual = [405, 'GET, HEAD, OPTIONS'];
  for (const other of ['PUT', 'DELETE', 'HEAD', 'POST', '', 'GET, PUT']) {
    assert.deepEqual(
      await allowed('POST', '/v1/listings', { 'x-http-method-override': other }),
      usual,
      other,
    );
  }
  assert.deepEqual(await allowed('PUT', '/Reso/OData/Property', OVERRIDE), usual);
  assert.deepEqual(await allowed('POST', '/media/x/y', OVERRIDE), usual);
  assert.deepEqual(await allowed('POST', '/$query'), usual);
  for (const method of ['GET', 'HEAD', 'PUT', 'DELETE']) {
    assert.deepEqual(await allowed(method, QUERY), [405, 'POST, OPTIONS']);
  }
  const message = 'GET is not allowed. This service accepts POST.';
  assert.deepEqual(resoFault(await service.get('api', QUERY, { token: api })), [
    405,
    'methodNotAllowed',
    message,
  ]);
  assert.deepEqual(await allowed('OPTIONS', QUERY), [204, 'POST, OPTIONS']);
  const admin = { token: await service.key('admin'), method: 'POST', headers: OVERRIDE };
  assert.equal((await service.get('admin', '/status', admin)).status, 405);
  // The override applies to POST only.
  assert.deepEqual(await allowed('GET', '/v1/listings', { 'x-http-method-override': 'DELETE' }), [
    200,
    undefined,
  ]);
});

test('a request without a key or with too long a body is refused before the body arrives', async () => {
  const head = (length: number, more = ''): string =>
    `POST ${QUERY} HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: ${length}\r\n${more}\r\n`;
  // The response arrives although no byte of the body was sent.
  const answer = readAnswer(await sendRaw(service.addresses.api, head(100)));
  assert.deepEqual(resoFault(answer).slice(0, 2), [401, 'tokenMissing']);
  const key = `Authorization: Bearer ${api}\r\n`;
  const large = readAnswer(await sendRaw(service.addresses.api, head(400_000, key)));
  assert.deepEqual(resoFault(large).slice(0, 2), [413, 'bodyTooLarge']);
  const late = readAnswer(await sendRaw(service.addresses.api, `${head(10, key)}$top`));
  assert.deepEqual(resoFault(late), [
    408,
    'requestTimedOut',
    'The request did not arrive completely in time.',
  ]);
  const leaving = open(service.addresses.api);
  leaving.write(`${head(10, key)}$top`, () => leaving.destroy());
  assert.equal((await post(QUERY, '$top=1')).status, 200);
});

test('a posted query counts against the limit like one in a URL, even if it is refused', async () => {
  const limits = { ...SERVICE_DEFAULTS.limits, api: { requests: 2, seconds: 300 } };
  const bounded = await startTestService({ after }, { service: { limits } });
  const token = await bounded.key('api');
  const ask = async (type: string): Promise<unknown[]> => {
    const options = { token, method: 'POST', headers: { 'content-type': type }, body: '$top=1' };
    const { status, headers } = await bounded.get('api', QUERY, options);
    return [status, String(headers.ratelimit).replace(/;t=\d+/, '')];
  };
  assert.deepEqual(
    [await ask('text/plain'), await ask('image/png'), await ask('text/plain')],
    [
      [200, '"requests";r=1'],
      [415, '"requests";r=0'],
      [429, '"requests";r=0'],
    ],
  );
});
