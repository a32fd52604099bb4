/** Control information by level: `odata.metadata` none, minimal and full (OData JSON format 4.01, 3.1). */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { listing, member, office, photo, room } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';
import type { Json } from '../../support/world.ts';
import { asker } from './asker.ts';

const ODD = "a'b c/d%é日";
const service = await startTestService(
  { after },
  {
    fill: async ({ write }) => {
      await write('Office', office('O1'));
      await write('Member', member('A1', { OfficeKey: 'O1' }));
      await write(
        'Property',
        listing('1', {
          ListPrice: 5,
          City: 'Rome',
          View: ['City Lights'],
          ListAgentKey: 'A1',
          CloseDate: '2026-01-01',
          Media: [photo('P1', { Order: 1 }), photo(ODD, { Order: 2 })],
          Rooms: [room('R1')],
        }),
        listing(ODD, { City: 'Utica' }),
      );
    },
  },
);
const token = await service.key('replication');
const feed = asker(service, 'replication', token);
const { root } = feed;

const full = (version = '4.01'): Record<string, string> => ({
  accept: 'application/json;odata.metadata=full',
  'odata-maxversion': version,
});
const NONE = { accept: 'application/json;odata.metadata=none' };

async function json(path: string, headers: Record<string, string>): Promise<Json> {
  const answer = await feed.get(path, { headers });
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

test('none omits all control information but counts, next links and requested references', async () => {
  const path =
    'Property?$select=ListingKey,City&$expand=Media($select=Order;$count=true),Rooms/$ref&$count=true&$top=1';
  const minimal = await json(path, {});
  const { '@odata.context': context, ...rest } = minimal;
  assert.equal(context, `${root}$metadata#Property(ListingKey,City,Media(Order))`);
  assert.deepEqual(await json(path, NONE), rest);
  assert.deepEqual(await json(path, NONE), {
    '@odata.count': 2,
    value: [
      {
        ListingKey: '1',
        City: 'Rome',
        'Media@odata.count': 2,
        Media: [{ Order: 1 }, { Order: 2 }],
        Rooms: [{ '@odata.id': `${root}PropertyRooms('R1')` }],
      },
    ],
    '@odata.nextLink': `${root}Property?$select=ListingKey,City&$expand=Media($select=Order;$count=true),Rooms/$ref&$count=true&$top=1&$skiptoken=1`,
  });
  assert.deepEqual(await json("Property('1')?$select=City", NONE), { City: 'Rome' });
  assert.deepEqual(await json("Property('1')/City", NONE), { value: 'Rome' });
  assert.deepEqual(Object.keys(await json('', NONE)), ['value']);
  const whole = await json("Property('1')", {});
  const { '@odata.context': _, ...record } = whole;
  assert.deepEqual(await json("Property('1')", NONE), record);
});

test('full adds the URL and type of each record, and the types of its values', async () => {
  const at = `${root}Property('1')`;
  const path =
    "Property('1')?$select=City,ListPrice,View,CloseDate,ModificationTimestamp&$expand=Media($select=Order),ListAgent($select=MemberKey)";
  const answer = await feed.get(path, { headers: full() });
  const { ModificationTimestamp: modified } = answer.json;
  const photoAt = (key: string) => {
    const address = `${root}Media('${key}')`;
    return { '@odata.type': '#org.reso.metadata.Media', '@odata.id': address, '@odata.readLink': address };
  };
  const odd = encodeURIComponent(ODD.replaceAll("'", "''"));
  const agent = `${root}Member('A1')`;
  const expected = {
    '@odata.context': `${root}$metadata#Property(City,ListPrice,View,CloseDate,ModificationTimestamp,Media(Order),ListAgent(MemberKey))/$entity`,
    '@odata.etag': answer.headers.etag,
    '@odata.type': '#org.reso.metadata.Property',
    '@odata.id': at,
    '@odata.readLink': at,
    'ListAgent@odata.navigationLink': `${at}/ListAgent`,
    'Media@odata.navigationLink': `${at}/Media`,
    'ListPrice@odata.type': 'Decimal',
    'View@odata.type': 'Collection(String)',
    'CloseDate@odata.type': 'Date',
    'ModificationTimestamp@odata.type': 'DateTimeOffset',
    City: 'Rome',
    ListPrice: 5,
    View: ['City Lights'],
    CloseDate: '2026-01-01',
    ModificationTimestamp: modified,
    Media: [
      { ...photoAt('P1'), 'Order@odata.type': 'Int64', Order: 1 },
      { ...photoAt(odd), 'Order@odata.type': 'Int64', Order: 2 },
    ],
    ListAgent: {
      '@odata.type': '#org.reso.metadata.Member',
      '@odata.id': agent,
      '@odata.readLink': agent,
      MemberKey: 'A1',
    },
  };
  assert.deepEqual(
    { ...answer.json, Media: (Array.isArray(answer.json.Media) ? answer.json.Media : []).toSorted(byOrder) },
    expected,
  );
  const old = await json("Property('1')?$select=ListPrice,View", full('4.0'));
  assert.deepEqual(
    [old['ListPrice@odata.type'], old['View@odata.type'], old['@odata.type']],
    ['#Decimal', '#Collection(String)', '#org.reso.metadata.Property'],
  );
  const computed = await json(
    "Property('1')?$select=Twice,Text&$compute=ListPrice mul 2 as Twice,concat(City,'!') as Text",
    full(),
  );
  assert.deepEqual([computed['Twice@odata.type'], computed['Text@odata.type']], ['Decimal', undefined]);
});

const byOrder = (one: Json, other: Json): number => Number(one.Order) - Number(other.Order);

test('full equals minimal plus control information, on pages and records, with or without nulls', async () => {
  const plain = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(plain);
    if (typeof value !== 'object' || value === null) return value;
    const kept = Object.entries(value).filter(([name]) => !/@odata\.(?!count|nextLink|context)/.test(name));
    return Object.fromEntries(kept.map(([name, each]) => [name, plain(each)]));
  };
  const paths = [
    'Property',
    'Property?$expand=*',
    "Property('1')",
    "Property('1')/Media",
    'Media?$filter=Order gt 0',
    'Member?$expand=Office',
  ];
  for (const path of paths) {
    for (const prefer of ['', 'omit-values=nulls']) {
      const whole = await json(path, { ...full(), prefer });
      assert.deepEqual(plain(whole), await json(path, { prefer }), path);
    }
  }
});

test('the type annotation of a value directly precedes it', async () => {
  let types = 0;
  const check = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const names = Object.keys(value);
    for (const [index, name] of names.entries()) {
      const [, of] = /^(.+)@odata\.type$/.exec(name) ?? [];
      if (of === undefined) continue;
      assert.equal(names[index + 1], of);
      types++;
    }
    Object.values(value).forEach(check);
  };
  for (const prefer of ['', 'omit-values=nulls']) {
    check(await json('Property?$expand=*', { ...full(), prefer }));
    check(await json("Property('1')?$select=ListPrice,View&$compute=ListPrice mul 2 as Twice", full()));
  }
  assert.ok(types > 40, String(types));
});

test('a single field has a type annotation if JSON does not imply the type, and no other control information', async () => {
  const typed: Record<string, string | undefined> = {
    ListPrice: 'Decimal',
    View: 'Collection(String)',
    CloseDate: 'Date',
    ModificationTimestamp: 'DateTimeOffset',
    PhotosCount: 'Int64',
    City: undefined,
  };
  for (const [name, type] of Object.entries(typed)) {
    const path = `Property('1')/${name}`;
    const { '@odata.type': stated, value, ...rest } = await json(path, full());
    assert.deepEqual([stated, rest], [type, { '@odata.context': `${root}$metadata#${path}` }]);
    const minimal = await json(path, {});
    assert.deepEqual(minimal, { '@odata.context': `${root}$metadata#${path}`, value });
    const old = (await json(path, full('4.0')))['@odata.type'];
    assert.equal(old, type === undefined ? undefined : `#${type}`);
    assert.deepEqual(await json(path, NONE), { value });
  }
  assert.deepEqual(Object.keys(await json("Property('1')/View", full())), [
    '@odata.context',
    '@odata.type',
    'value',
  ]);
  for (const [path, text] of Object.entries({
    "Property('1')/ListPrice/$value": '5',
    "Property('1')/ListPrice/$value?$format=text/plain": '5',
    "Property('1')/View/$count": '1',
    "Property('1')/Media/$count": '2',
  })) {
    const answer = await feed.get(path, { headers: full() });
    assert.deepEqual([answer.text, answer.headers['content-type']], [text, 'text/plain; charset=utf-8']);
  }
  const refused: Record<string, readonly [number, string]> = {
    "Property('1')/ListPrice/$value?$format=json": [
      406,
      '$format excludes everything that is offered here: text/plain.',
    ],
    "Property('1')/View/$count?$format=json": [400, '$format does not apply to a count of values.'],
    '?$top=1': [400, '$top does not apply to the service document.'],
    '$metadata?$select=City': [400, '$select does not apply to $metadata.'],
  };
  for (const [path, [status, expected]] of Object.entries(refused)) {
    const [found, , message] = await feed.error(path);
    assert.deepEqual([found, message.replace('The request is malformed: ', '')], [status, expected], path);
  }
});

test('every URL in a full response leads to the record that it names', async () => {
  const { value } = await json('Property?$expand=Media,ListAgent', full());
  const found = new Map<string, unknown>();
  const collect = (each: unknown): void => {
    if (Array.isArray(each)) each.forEach(collect);
    else if (typeof each === 'object' && each !== null) {
      for (const [name, inner] of Object.entries(each)) {
        if (/@odata\.(id|readLink|navigationLink)$/.test(name)) found.set(String(inner), each);
        else collect(inner);
      }
    }
  };
  collect(value);
  assert.ok(found.size > 30, String(found.size));
  for (const [address, record] of found) {
    assert.ok(URL.canParse(address) && /^[\x21-\x7e]+$/.test(address), address);
    const answer = await feed.get(address, { headers: full() });
    assert.ok(answer.status === 200 || answer.status === 204, `${address} ${answer.text}`);
    if (address === Reflect.get(Object(record), '@odata.id')) assert.equal(answer.json['@odata.id'], address);
  }
});

test('the level comes from Accept or $format, with or without the prefix odata., and is stated in Content-Type', async () => {
  const levelOf = async (path: string, accept?: string): Promise<unknown> => {
    const { headers, text } = await feed.get(path, { headers: accept === undefined ? {} : { accept } });
    const [, level] =
      /^application\/json;odata\.metadata=(\w+);charset=utf-8$/.exec(headers['content-type'] ?? '') ?? [];
    assert.equal(level === 'none', !text.includes('@odata.context'));
    assert.equal(level === 'full', text.includes('@odata.id'));
    return level;
  };
  const page = 'Property?$select=City';
  const accepted: readonly (readonly [string | undefined, string])[] = [
    [undefined, 'minimal'],
    ['*/*', 'minimal'],
    ['application/json', 'minimal'],
    ['application/json;odata.metadata=minimal', 'minimal'],
    ['application/json;metadata=full', 'full'],
    ['Application/JSON; OData.Metadata="Full"; charset=utf-8', 'full'],
    ['application/json;odata.metadata=none;odata.streaming=true', 'none'],
    ['application/json;odata.metadata=all', 'minimal'],
    ['application/json;odata.metadata=full;q=0.5, application/json;odata.metadata=none', 'none'],
    ['application/xml;odata.metadata=full, application/json;q=0.1', 'minimal'],
  ];
  for (const [accept, level] of accepted)
    assert.equal(await levelOf(page, accept), level, accept ?? 'no Accept');
  const formats: readonly (readonly [string, string])[] = [
    ['json', 'minimal'],
    ['application/json;odata.metadata=full', 'full'],
    ['json;metadata=none', 'none'],
    ['application/json%3Bodata.metadata%3Dnone', 'none'],
  ];
  for (const [format, level] of formats) {
    assert.equal(
      await levelOf(`${page}&$format=${format}`, 'application/json;odata.metadata=full'),
      level,
      format,
    );
  }
  assert.equal((await feed.get(`${page}&$format=jsonx`)).status, 406);
});
