/** The floor plan interface (specification 4.1; contract, Floor plan interface). */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { floorPlan, listing, photo } from '../../support/builders.ts';
import { type Answer, startTestService } from '../../support/service.ts';
import { asker } from '../reso/asker.ts';

const SYSTEM = 'M00000571';
const OTHER = 'M00000628';
const number = (index: number): string => String(index).padStart(2, '0');

/** Keys of the plans of 25 listings of one system: one plan each, three for the third listing. */
const PLANS = Array.from({ length: 25 }, (_, index) => `P${number(index + 1)}`).toSpliced(
  3,
  0,
  'P03b',
  'P03c',
);

const service = await startTestService(
  { after },
  {
    fill: async ({ write }) => {
      await write(
        'Property',
        ...Array.from({ length: 25 }, (_, index) => {
          const key = `L${number(index + 1)}`;
          const plan = `P${number(index + 1)}`;
          const more = index === 2 ? [floorPlan('P03b'), floorPlan('P03c')] : [];
          return listing(key, {
            OriginatingSystemID: SYSTEM,
            Media: [
              floorPlan(plan, {
                MediaType: 'svg',
                FloplanKey: `G${index + 1}`,
                FloplanImageType: ['all_in_one_png'],
              }),
              photo(`Z${key}`),
              ...more,
            ],
          });
        }),
        listing("O'1", { OriginatingSystemID: OTHER, Media: [floorPlan('Q1')] }),
        listing('W1', { OriginatingSystemID: SYSTEM, StandardStatus: 'Withdrawn', Media: [floorPlan('PW')] }),
      );
    },
  },
);
const key = (...systems: readonly string[]) => service.key('floorplans', { role: 'idx', systems });
const token = await key(SYSTEM);
const plans = asker(service, 'floorplans', token);
const both = asker(service, 'floorplans', await key(SYSTEM, OTHER));
const ofSystem = `OriginatingSystemResourceRecordSystemID eq '${SYSTEM}'`;

test('4.1 $metadata is an XML document; a request that excludes XML gets 406', async () => {
  const metadata = (accept?: string): Promise<Answer> =>
    plans.get('$metadata', accept === undefined ? {} : { headers: { accept } });
  for (const accept of [undefined, 'application/xml', '*/*', 'application/json, application/xml;q=0.1']) {
    const { status, headers, text } = await metadata(accept);
    assert.deepEqual(
      [status, headers['content-type']],
      [200, 'application/xml; charset=utf-8'],
      accept ?? 'without',
    );
    assert.match(text, /^<\?xml version="1\.0" encoding="(utf|UTF)-8"\?>/);
    assert.match(text, /<EntityType Name="Media">/);
    for (const field of ['OriginatingSystemResourceRecordKey', 'OriginatingSystemResourceRecordSystemID']) {
      assert.match(text, new RegExp(`<Property Name="${field}" Type="Edm.String"`));
    }
  }
  const older = await metadata('text/xml');
  assert.deepEqual([older.status, older.headers['content-type']], [200, 'text/xml; charset=utf-8']);
  assert.equal(older.text, (await metadata()).text);
  for (const path of ['$metadata', '$metadata?$format=json']) {
    const refused = await plans.error(path, path === '$metadata' ? { accept: 'application/json' } : {});
    assert.deepEqual(refused.slice(0, 2), [406, 'notAcceptable']);
    assert.match(refused[2], /application\/xml/);
  }
});

test('4.1.1 OriginatingSystemResourceRecordKey and …SystemID together return the plans of one listing', async () => {
  const of = (listingKey: string) =>
    `Media?$filter=OriginatingSystemResourceRecordKey eq '${listingKey}' and ${ofSystem}`;
  assert.deepEqual(await plans.keys(of('L03')), ['P03', 'P03b', 'P03c']);
  assert.deepEqual(await plans.keys(of('L04')), ['P04']);
  assert.deepEqual(await plans.keys(of('L99')), []);
});

test('4.1.2 OriginatingSystemResourceRecordSystemID alone returns the plans of the system', async () => {
  assert.deepEqual((await plans.walk(`Media?$filter=${ofSystem}`)).flat(), PLANS);
});

test('4.1.3 $top=N limits the records, $top=1 to one', async () => {
  for (const top of [1, 2, 10]) {
    const { rows, next } = await plans.page(`Media?$filter=${ofSystem}&$top=${top}`);
    assert.deepEqual([rows.map(({ MediaKey }) => MediaKey), next], [PLANS.slice(0, top), undefined]);
  }
});

test('4.1.4 $top=5&$skip=15 returns records 16 to 20, and stepping by 7 returns all records in order', async () => {
  assert.deepEqual(await plans.keys(`Media?$filter=${ofSystem}&$top=5&$skip=15`), PLANS.slice(15, 20));
  const found: string[] = [];
  for (let skip = 0; skip < 30; skip += 7) {
    found.push(...(await plans.keys(`Media?$filter=${ofSystem}&$top=7&$skip=${skip}`)));
  }
  assert.deepEqual(found, PLANS);
});

test('4.1.5 quotes, spaces and dollar signs may be percent-encoded, and a quote in a literal is doubled', async () => {
  const encoded = `Media?%24filter=OriginatingSystemResourceRecordKey+eq+%27L04%27+and+OriginatingSystemResourceRecordSystemID+eq+%27${SYSTEM}%27&%24top=1`;
  assert.deepEqual(await plans.keys(encoded), ['P04']);
  const quoted = `Media?$filter=OriginatingSystemResourceRecordKey eq 'O''1'`;
  assert.deepEqual(await both.keys(quoted), ['Q1']);
});

test('a record has the fields of the interface and an absolute MediaURL', async () => {
  const { MediaURL, ModificationTimestamp, ...record } = await plans.record(
    "Media('P01')?$select=MediaKey,FloplanKey,FloplanImageType,MediaCategory,MediaType,MediaURL,ModificationTimestamp,OriginatingSystemResourceRecordKey,OriginatingSystemResourceRecordSystemID",
  );
  assert.deepEqual(record, {
    MediaKey: 'P01',
    FloplanKey: 'G1',
    FloplanImageType: ['all_in_one_png'],
    MediaCategory: 'Floor Plan',
    MediaType: 'svg',
    OriginatingSystemResourceRecordKey: 'L01',
    OriginatingSystemResourceRecordSystemID: SYSTEM,
  });
  assert.match(String(ModificationTimestamp), /Z$/);
  assert.ok(String(MediaURL).startsWith(`${service.addresses.floorplans}/media/`), String(MediaURL));
});

test('a token returns only floor plans, only of its systems, and only of listings that its role may see', async () => {
  assert.deepEqual((await plans.walk('Media')).flat(), PLANS);
  assert.deepEqual((await both.walk('Media')).flat(), [...PLANS, 'Q1']);
  assert.equal((await plans.page('Media?$count=true&$top=0')).count, PLANS.length);
  assert.deepEqual(await plans.keys("Media?$filter=MediaCategory eq 'Photo'"), []);
  assert.deepEqual(
    await plans.keys(`Media?$filter=OriginatingSystemResourceRecordSystemID eq '${OTHER}'`),
    [],
  );
  const missing = await plans.error("Media('none')");
  for (const hidden of ['ZL01', 'Q1', 'PW']) {
    assert.deepEqual(await plans.error(`Media('${hidden}')`), missing, hidden);
  }
  assert.deepEqual(missing, [404, 'recordNotFound', 'There is no such Media record.']);
});

test('$select, $orderby and $count work; other resources do not exist', async () => {
  const { rows, count } = await plans.page(
    'Media?$select=MediaKey&$orderby=MediaKey desc&$top=2&$count=true',
  );
  assert.deepEqual([rows, count], [[{ MediaKey: 'P25' }, { MediaKey: 'P24' }], PLANS.length]);
  for (const path of ['Property', "Property('L01')", 'Member', 'OData/Media', 'OData/Property']) {
    assert.equal((await plans.get(path)).status, 404, path);
  }
});

test('5.2 a floor plan token is required: 401 without a token or with an unknown one, 403 for other keys', async () => {
  const ask = async (given: string | undefined): Promise<unknown[]> => {
    const answer = await service.get('floorplans', '/Reso/Media', { token: given });
    return [answer.status, answer.headers['www-authenticate']];
  };
  assert.deepEqual(await ask(undefined), [401, 'Bearer']);
  assert.deepEqual(await ask('plat_unknown'), [401, 'Bearer']);
  for (const kind of ['api', 'replication'] as const) {
    assert.deepEqual(await ask(await service.key(kind)), [403, undefined], kind);
  }
  assert.deepEqual(await ask(token), [200, undefined]);
});
