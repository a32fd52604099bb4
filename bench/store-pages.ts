/** Pages of 1,000 records by key, in every shape. */
import { LISTING_EXPANSIONS } from '../src/query/native/selection.ts';
import { IDX } from '../test/support/views.ts';
import { CONCATENATED, STRINGIFIED } from './floors.ts';
import { nativeShape, reads } from './support/reads.ts';
import type { Subject } from './support/subject.ts';

/** Thirty fields, as a website would show in a list of results; two of them are those of the agent and the office. */
const THIRTY =
  'ListingKey,ListingId,StandardStatus,MlsStatus,PropertyType,PropertySubType,ListPrice,ClosePrice,CloseDate,' +
  'BedroomsTotal,BathroomsTotalInteger,LivingArea,LotSizeAcres,YearBuilt,City,StateOrProvince,PostalCode,StreetNumber,' +
  'StreetName,StreetSuffix,UnparsedAddress,Latitude,Longitude,PhotosCount,SubdivisionName,GarageSpaces,' +
  'ModificationTimestamp,OnMarketDate,ListAgentFullName,ListOfficeName';

export const storePages: Subject = {
  title: 'pages of 1000',
  floors: [CONCATENATED, STRINGIFIED],
  async run(context) {
    const { page, pageOf, request } = reads(context);
    const native = await request('Property', '', { limit: 1000 });
    const nativeIdx = await request('Property', '', { limit: 1000, viewer: IDX });
    const everything = LISTING_EXPANSIONS.filter((expansion) => expansion !== 'CustomFields');
    return [
      await page('full records, private', 'Property', ''),
      await page('full records, idx', 'Property', '', { viewer: IDX }),
      await page('full records, idx, nulls left out', 'Property', '', { viewer: IDX, omitNulls: true }),
      await page('with Media', 'Property', '$expand=Media', { viewer: IDX }),
      await page(
        'with Media, Rooms, UnitTypes, OpenHouses',
        'Property',
        '$expand=Media,Rooms,UnitTypes,OpenHouses',
        {
          viewer: IDX,
        },
      ),
      await page('with ListAgent, ListOffice', 'Property', '$expand=ListAgent,ListOffice', { viewer: IDX }),
      await pageOf('native listings, private', { ...native, shape: nativeShape() }),
      await pageOf('native listings, idx, with masks', { ...nativeIdx, shape: nativeShape() }),
      await pageOf('native listings with photos', { ...nativeIdx, shape: nativeShape(['Photos']) }),
      await pageOf('native listings with all parts', { ...nativeIdx, shape: nativeShape(everything) }),
      await pageOf('native listings with custom fields', { ...native, shape: nativeShape(['CustomFields']) }),
      await page('keys alone', 'Property', '$select=ListingKey', { viewer: IDX }),
      await page('30 fields selected', 'Property', `$select=${THIRTY}`, { viewer: IDX }),
      await page('media', 'Media', '', { viewer: IDX }),
      await page('media, keys alone', 'Media', '$select=MediaKey', { viewer: IDX }),
      await page('members', 'Member', '', { viewer: IDX, position: { kind: 'start' } }),
    ];
  },
};
