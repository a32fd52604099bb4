/** Unbounded reads do not delay bounded ones: slow queries run neither on the main thread nor in the lane of pages. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { listing, room } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';

/** So many that a slow query takes a third of a second, in the full test run three times as long. */
const ROOMS = process.env.PLAT_FULL === '1' ? 12 : 10;
const rooms = (key: string) => Array.from({ length: ROOMS }, (_, index) => room(`${key}-${index}`));
const service = await startTestService(
  { after },
  {
    fill: async ({ write }) =>
      void (await write(
        'Property',
        listing('1', { Rooms: rooms('1') }),
        listing('2', { Rooms: rooms('2') }),
      )),
    readers: { pageReaders: 1, searchReaders: 1 },
    service: { filterIndex: { minutes: 0, megabytes: 0 } },
  },
);
const token = await service.key('replication');

/** A condition that is never true, whose cost grows with each level by the number of rooms of a listing. */
const conditionWithin = (levels: number): string =>
  levels === 0
    ? "RoomKey eq 'none'"
    : `Listing/Rooms/any(r${levels}:r${levels}/${conditionWithin(levels - 1)})`;
const deep = conditionWithin(6);

const slow = [
  `Property?$select=ListingKey&$expand=Rooms($filter=${deep})`,
  `Property('1')?$select=ListingKey&$expand=Rooms($filter=${deep})`,
  `Property('1')?$select=ListingKey,Found&$compute=Rooms/$count($filter=${deep}) as Found`,
  `Property('1')/Rooms?$filter=${conditionWithin(7)}`,
  `Property('1')/Rooms/$count?$filter=${conditionWithin(7)}`,
];

for (const path of slow) {
  test(`pages, records and children are returned before a slow query ends: ${path.slice(0, 60)}`, async () => {
    const order: string[] = [];
    const ask = async (name: string, asked: string): Promise<void> => {
      const { status, text } = await service.get('replication', `/Reso/OData/${asked}`, { token });
      assert.equal(status, 200, text);
      order.push(name);
    };
    const first = ask('slow', path);
    await ask('known', "Property('2')/Media");
    const others = ['Property?$expand=Media,Rooms', "Property('2')?$expand=Rooms", "Property('2')/Rooms"];
    await Promise.all([first, ...others.map((asked) => ask('quick', asked))]);
    assert.deepEqual(order, ['known', 'quick', 'quick', 'quick', 'slow']);
  });
}
