/** The number of records that expansions multiply is limited before anything is read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkRelated, estimateRelatedRecords, MAX_RELATED } from '../../src/query/related-records.ts';
import { collection, refusal } from './odata/fixture.ts';

const related = (path: string, resource = 'Property'): number =>
  estimateRelatedRecords(collection(path, resource).expansions);

test('a record counts as one, a collection as ten or as its $top, a count as one', () => {
  assert.equal(related(''), 0);
  assert.equal(related('$expand=ListAgent'), 1);
  assert.equal(related('$expand=Media,ListAgent'), 11);
  assert.equal(related('$expand=Media($top=3)'), 3);
  assert.equal(related('$expand=Media($top=100000)'), 10);
  assert.equal(related('$expand=Media/$count'), 1);
  assert.equal(
    related('$expand=Rooms($expand=Listing($expand=Rooms($expand=Listing)))'),
    10 * (1 + 1 + 10 * 2),
  );
});

test('expansions of usual clients are accepted with full pages', () => {
  for (const path of [
    '$expand=*',
    '$expand=Media,Rooms,UnitTypes,OpenHouses,ListAgent,ListOffice,CoListAgent,BuyerAgent,BuyerOffice',
  ]) {
    checkRelated(collection(path).expansions, 1000);
  }
  checkRelated(collection('$expand=*($levels=2)', 'PropertyRooms').expansions, 1000);
});

test('expansions that multiply too much are rejected with the number of rows that would be accepted', () => {
  const nested = 'Rooms($expand=Listing($expand=Rooms($expand=Listing)))';
  const { expansions } = collection(`$expand=${nested}`);
  const most = Math.floor(MAX_RELATED / 220);
  checkRelated(expansions, most);
  assert.deepEqual(
    refusal(() => checkRelated(expansions, 1000)),
    [
      'expansionTooLarge',
      `$expand: about 220000 related records would come with 1000 rows, more than 150000. Request at most $top=${most}, or fewer expansions.`,
    ],
  );
  const deeper = collection(`$expand=${'Rooms($expand=Listing($expand='.repeat(5)}Rooms${'))'.repeat(5)}`);
  assert.deepEqual(refusal(() => checkRelated(deeper.expansions, 1))[0], 'expansionTooLarge');
});
