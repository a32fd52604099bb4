/** A token is sent to the origin of its source only, whatever a link looks like. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { assertOrigin, redirectTarget, urlAtOrigin } from '../../../src/replica/http/egress-policy.ts';
import { RequestFailure } from '../../../src/replica/http/failure.ts';
import { runsOf } from '../../support/runs.ts';
import { clientOf } from '../support/client.ts';
import { json, listen } from '../support/loopback.ts';

const ROOT = new URL('https://feed.example:8443/Reso/OData/');
const ELSEWHERE = 'elsewhere.example';

/** Parts of links, including those that URL parsers have misread. */
const PIECES = [
  ...['http:', 'https:', 'HTTP:', 'x:', 'file:', 'blob:', 'data:', 'javascript:', 'ws:', 'urn:'],
  ...[
    '/',
    '//',
    '///',
    '\\',
    '\\\\',
    '/\\',
    ':',
    '@',
    ':@',
    'user:secret@',
    '?',
    '#',
    '%',
    '%2F',
    '%40',
    ';',
  ],
  ...[ELSEWHERE, `${ELSEWHERE}:81`, 'feed.example', 'feed.example:8443', 'localhost:1', '[::1]', '127.1'],
  ...[
    '.',
    '..',
    '\t',
    '\n',
    ' ',
    '\u0000',
    '。',
    '／',
    'Property',
    '$skiptoken=1',
    'blob:https://feed.example:8443/',
  ],
];
const oddLinks = fc
  .array(fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...PIECES) }, fc.string({ maxLength: 4 })), {
    maxLength: 7,
  })
  .map((pieces) => pieces.join(''));

/** The address that a link resolves to, or undefined if it is rejected with an error of the consumer. */
function kept(resolve: (link: string) => string, link: string): string | undefined {
  try {
    return resolve(link);
  } catch (error) {
    if (error instanceof RequestFailure) return undefined;
    throw error;
  }
}

/** Checks that a resolver keeps every odd link at the origin of the root. */
function staysHome(resolve: (link: string) => string): fc.RunDetails<[string]> {
  const property = fc.property(oddLinks, (link) => {
    const address = kept(resolve, link);
    if (address === undefined) return;
    const { origin, username, password } = new URL(address);
    assert.deepEqual([origin, username, password], [ROOT.origin, '', '']);
  });
  return fc.check(property, { seed: 20, numRuns: runsOf(20_000) });
}

const assertStaysHome = (resolve: (link: string) => string): void => {
  const { failed, counterexample } = staysHome(resolve);
  assert.equal(failed, false, `it is led away by ${JSON.stringify(counterexample)}`);
};

/** Makes a link absolute before it is checked, as other parts of the consumer do. */
function absolute(link: string): URL {
  if (URL.canParse(link, ROOT)) return new URL(link, ROOT);
  throw new RequestFailure('rejected', link);
}

test('no link, however odd, leads away from the origin of the source', () =>
  assertStaysHome((link) => urlAtOrigin(ROOT, link)));

test('no link that was made absolute before leads away', () =>
  assertStaysHome((link) => urlAtOrigin(ROOT, absolute(link).href)));

test('no redirect leads away', () => assertStaysHome((link) => redirectTarget(ROOT, ROOT.href, link)));

const WRONG: readonly [string, (url: URL) => string][] = [
  ['origin and path glued to each other', (url) => `${ROOT.origin}${url.pathname}${url.search}`],
  ['the path as a link of its own', (url) => new URL(url.pathname + url.search, ROOT.origin).href],
  ['the link as it is', (url) => url.href],
];
for (const [name, resolve] of WRONG) {
  test(`MUTANT ${name}: at least one link leads away`, () => {
    assert.equal(staysHome((link) => resolve(absolute(link))).failed, true);
  });
}

const KEPT: readonly [string, string][] = [
  ['Property?$skiptoken=1', 'https://feed.example:8443/Reso/OData/Property?$skiptoken=1'],
  ['/other', 'https://feed.example:8443/other'],
  [
    'http://inner:9000/Reso/OData/Property?$skip=5#x',
    'https://feed.example:8443/Reso/OData/Property?$skip=5',
  ],
  ['//elsewhere.example/a', 'https://feed.example:8443/a'],
  ['https://u:p@feed.example:8443/a', 'https://feed.example:8443/a'],
  ['https://elsewhere.example//evil.example/a', 'https://feed.example:8443//evil.example/a'],
];
for (const [link, address] of KEPT) {
  test(`a link keeps its path and query: ${link}`, () => assert.equal(urlAtOrigin(ROOT, link), address));
}

for (const link of [
  'x:@localhost:1/steal',
  'file:///etc/passwd',
  'blob:https://feed.example:8443/1',
  'http://',
]) {
  test(`a link that is not a web URL is rejected: ${link}`, () =>
    assert.throws(() => urlAtOrigin(ROOT, link), {
      kind: 'rejected',
      message: `The source links to ${link}, which is not a web URL`,
    }));
}

test('the last check before a token is sent rejects another host, and a host after a user name and a colon', () => {
  for (const address of ['https://elsewhere.example/', 'https://feed.example:8443@elsewhere.example/']) {
    assert.throws(() => assertOrigin(ROOT, address), {
      kind: 'refused',
      message: 'https://elsewhere.example is not the origin of the token',
    });
  }
  assertOrigin(ROOT, 'https://feed.example:8443/Reso/OData/Property');
});

test('INCIDENT an opaque link took the token to another host: it is rejected without a request', async (t) => {
  const other = await listen(t, () => json({ value: [] }));
  const server = await listen(t, () => json({ value: [] }));
  const link = `x:@${new URL(other.origin).host}/steal`;
  assert.deepEqual(await clientOf(t, server.origin).fault(link), [
    'rejected',
    `The source links to ${link}, which is not a web URL`,
  ]);
  assert.deepEqual([other.seen.length, server.seen.length], [0, 0]);
});

test('a redirect of the same host from http to https names the address that may be right', () => {
  const root = new URL('http://feed.example/odata/');
  assert.throws(() => redirectTarget(root, root.href, 'https://feed.example/odata/$metadata'), {
    kind: 'refused',
    message:
      'The source redirects to https://feed.example, which is not the origin of the token; --from https://feed.example/odata/ may be its address',
  });
});
