/** Numbers as strings: the format parameter `IEEE754Compatible=true` (OData JSON format 4.01, 3.2). */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { listing, photo, room } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';
import type { Json } from '../../support/world.ts';
import { asker } from './asker.ts';

const service = await startTestService(
  { after },
  {
    fill: async ({ write }) => {
      await write(
        'Property',
        listing('1', {
          ListPrice: 123456789012.25,
          BedroomsTotal: 0,
          Latitude: -36.5,
          Longitude: 10,
          NewConstructionYN: true,
          View: ['2', 'City Lights'],
          PublicRemarks: 'He said: "ListPrice":5, \\ and [7]',
          Media: [photo('P1', { Order: 1 }), photo('P2', { Order: 2 })],
          Rooms: [room('R1', { RoomLength: 3.5 })],
        }),
        listing('2', { ListPrice: null, BedroomsTotal: 3 }),
      );
    },
  },
);
const token = await service.key('replication', { role: 'private' });
const feed = asker(service, 'replication', token);
const AS_TEXT = { accept: 'application/json;IEEE754Compatible=true' };

async function json(path: string, headers: Record<string, string> = AS_TEXT): Promise<Json> {
  const answer = await feed.get(path, { headers });
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

/** Without control information. */
async function bare(path: string, headers: Record<string, string> = AS_TEXT): Promise<Json> {
  const { '@odata.context': _, ...rest } = await json(path, headers);
  return rest;
}

test('integers and decimals are strings, also in computed properties, expansions and counts', async () => {
  const path =
    'Property?$select=ListingKey,ListPrice,BedroomsTotal,Latitude,NewConstructionYN,View,PublicRemarks,More,Half,Key&$compute=BedroomsTotal add 2 as More,ListPrice div 2 as Half,ListingKey as Key' +
    '&$expand=Media($select=Order;$count=true;$orderby=MediaKey),Rooms($select=RoomLength),UnitTypes/$count&$count=true';
  const { value, ...rest } = await bare(path);
  assert.deepEqual(rest, { '@odata.count': '2' });
  assert.deepEqual(value, [
    {
      ListingKey: '1',
      ListPrice: '123456789012.25',
      BedroomsTotal: '0',
      Latitude: '-36.5',
      NewConstructionYN: true,
      View: ['2', 'City Lights'],
      PublicRemarks: 'He said: "ListPrice":5, \\ and [7]',
      More: '2',
      Half: '61728394506.125',
      Key: '1',
      'Media@odata.count': '2',
      Media: [{ Order: '1' }, { Order: '2' }],
      Rooms: [{ RoomLength: '3.5' }],
      'UnitTypes@odata.count': '0',
    },
    {
      ListingKey: '2',
      ListPrice: null,
      BedroomsTotal: '3',
      Latitude: null,
      NewConstructionYN: null,
      View: [],
      PublicRemarks: null,
      More: '5',
      Half: null,
      Key: '2',
      'Media@odata.count': '0',
      Media: [],
      Rooms: [],
      'UnitTypes@odata.count': '0',
    },
  ]);
});

test('a whole record has the same members and digits', async () => {
  const plain = await bare("Property('1')?$expand=Media", {});
  const asText = await bare("Property('1')?$expand=Media");
  const numbers = Object.entries(plain).filter(([, value]) => typeof value === 'number');
  assert.ok(numbers.length > 5);
  const expected = (record: Json): Json =>
    Object.fromEntries(
      Object.entries(record).map(([name, value]) => [
        name,
        typeof value === 'number' ? String(value) : value,
      ]),
    );
  assert.deepEqual(asText, {
    ...expected(plain),
    Media: Object(plain).Media.map(expected),
  });
});

test('a single number is a string, and its raw value the same digits', async () => {
  assert.equal((await json("Property('1')/ListPrice")).value, '123456789012.25');
  assert.equal((await json("Property('1')/ListPrice", {})).value, 123456789012.25);
  assert.equal((await feed.get("Property('1')/ListPrice/$value")).text, '123456789012.25');
  assert.equal((await feed.get('Property/$count', { headers: { accept: 'text/plain' } })).text, '2');
});

test('the content type repeats the parameter, whose name and value may have any case', async () => {
  const typeOf = async (path: string, accept?: string) =>
    (await feed.get(path, { headers: accept === undefined ? {} : { accept } })).headers['content-type'];
  const asText = 'application/json;odata.metadata=minimal;IEEE754Compatible=true;charset=utf-8';
  const plain = 'application/json;odata.metadata=minimal;charset=utf-8';
  assert.equal(await typeOf('Property?$top=1', AS_TEXT.accept), asText);
  assert.equal(
    await typeOf('Property?$top=1', 'application/json; ieee754compatible=TRUE, */*;q=0.1'),
    asText,
  );
  assert.equal(
    await typeOf('Property?$top=1&$format=json;IEEE754Compatible=true', 'application/json'),
    asText,
  );
  assert.equal(await typeOf("Property('1')", 'application/json;IEEE754Compatible=false'), plain);
  assert.equal(await typeOf("Property('1')"), plain);
  assert.equal(
    await typeOf("Property('1')", 'application/json;odata.metadata=full;IEEE754Compatible=true'),
    'application/json;odata.metadata=full;IEEE754Compatible=true;charset=utf-8',
  );
});

test('kept responses and blocks of both forms are kept apart', async () => {
  const headers = { 'accept-encoding': 'gzip' };
  for (let times = 0; times < 3; times++) {
    for (const path of ['Property?$filter=BedroomsTotal gt 0', "Property('2')", 'Property?$top=5']) {
      const [asText, plain] = await Promise.all([
        feed.get(path, { headers: AS_TEXT }),
        feed.get(path, { headers: times === 2 ? headers : {} }),
      ]);
      assert.match(asText.text, /"BedroomsTotal":"3"/, path);
      if (times < 2) assert.match(plain.text, /"BedroomsTotal":3,/, path);
      else assert.equal(plain.headers['content-encoding'], path.includes('top') ? 'gzip' : undefined);
    }
  }
});

test('a delta returns numbers as strings, as well', async () => {
  const first = await json('Property?$select=BedroomsTotal', { ...AS_TEXT, prefer: 'odata.track-changes' });
  const link = String(first['@odata.deltaLink']);
  await service.write('Property', listing('2', { BedroomsTotal: 4 }));
  assert.deepEqual((await json(link)).value, [{ BedroomsTotal: '4', ListingKey: '2' }]);
  assert.deepEqual((await json(link, {})).value, [{ BedroomsTotal: 4, ListingKey: '2' }]);
});

test('the sequence of changes has its numbers as strings', async () => {
  const { value } = await bare('EntityEvent?$top=1');
  assert.equal(typeof Object(value)[0].EntityEventSequence, 'string');
});
