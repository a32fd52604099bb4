/** Variants of paths and tokens that clients send: superfluous slashes are ignored, a quoted token is refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listing } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';
import { resoFault } from '../http/envelopes.ts';

const ROOT = '/Reso/OData';

test('empty path segments are ignored', async (t) => {
  const service = await startTestService(t);
  await service.write('Property', listing('A', { City: 'Springfield' }), listing('B'), listing('C'));
  const token = await service.key('replication');
  const ask = (path: string) => service.get('replication', path, { token });
  for (const [plain, written] of [
    ['/Property?$top=2', '/Property/?$top=2'],
    ['/Property?$top=2', '//Property?$top=2'],
    ['/$metadata', '/$metadata/'],
    ['/', '//'],
    ["/Property('A')", "/Property('A')/"],
    ["/Property('A')/City", "//Property('A')//City/"],
    ['/Property/$count', '/Property/$count/'],
    ['/Property/$digests?$top=2', '/Property//$digests/?$top=2'],
  ] as const) {
    const [one, other] = [await ask(`${ROOT}${plain}`), await ask(`${ROOT}${written}`)];
    assert.equal(one.status, 200, plain);
    assert.equal(other.status, 200, written);
    const [path] = plain.split('?');
    const [asked] = written.split('?');
    assert.equal(other.text.replaceAll(`${asked}?`, `${path}?`), one.text, written);
  }
  // The next link of such a path works.
  const next = String((await ask(`${ROOT}/Property/?$top=2`)).json['@odata.nextLink']);
  const last = await ask(next.slice(next.indexOf('/Reso')));
  assert.deepEqual(
    Object(last.json).value.map(({ ListingKey }: { ListingKey: string }) => ListingKey),
    ['C'],
  );
});

test('a quoted token is refused instead of being used as a key', async (t) => {
  const service = await startTestService(t);
  await service.write('Property', listing('A'), listing("'B'"), listing('"B"'), listing('C'));
  const token = await service.key('replication');
  const ask = (path: string) => service.get('replication', path, { token });
  assert.deepEqual(resoFault(await ask(`${ROOT}/Property?$skiptoken='A'`)), [
    400,
    'optionInvalid',
    `$skiptoken is "'A'", but takes a token as it was returned, without quotes.`,
  ]);
  assert.deepEqual(resoFault(await ask(`${ROOT}/Property?$skiptoken="A"`)), [
    400,
    'optionInvalid',
    '$skiptoken is "\\"A\\"", but takes a token as it was returned, without quotes.',
  ]);
  // A walk continues after any key, even one that contains quotes.
  const keys: string[] = [];
  for (let path: string | undefined = `${ROOT}/Property?$top=1&$select=ListingKey`; path !== undefined; ) {
    const { json } = await ask(path);
    keys.push(...Object(json).value.map(({ ListingKey }: { ListingKey: string }) => ListingKey));
    const next: unknown = json['@odata.nextLink'];
    path = typeof next === 'string' ? next.slice(next.indexOf('/Reso')) : undefined;
  }
  assert.deepEqual(keys, ['"B"', "'B'", 'A', 'C']);
  // The native interface does the same.
  const native: string[] = [];
  for (let after = ''; ; ) {
    const { json } = await ask(
      `/v1/listings?_limit=1&_select=ListingKey&_skiptoken=${encodeURIComponent(after)}`,
    );
    const { Results, SkipToken } = Object(json).D;
    if (Results.length === 0) break;
    native.push(Results[0].Id);
    after = SkipToken;
  }
  assert.deepEqual(native, ['"B"', "'B'", 'A', 'C']);
  const refused = await ask("/v1/listings?_skiptoken='A'");
  assert.deepEqual(
    [refused.status, Object(refused.json).D.Code, Object(refused.json).D.Message],
    [400, 1053, `_skiptoken is "'A'", but takes a token as it was returned, without quotes.`],
  );
});
