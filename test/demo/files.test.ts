import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { XMLValidator } from 'fast-xml-parser';
import { type DrawnFile, drawFile, type MediaSource } from '../../packages/demo/src/files.ts';
import { makeMarket } from '../../packages/demo/src/market.ts';
import { SCENES } from '../../packages/demo/src/media-keys.ts';
import { childrenOf, type ImportRecord, textOf } from '../../packages/demo/src/records.ts';
import type { FieldValues } from '../../src/dictionary/index.ts';

const LISTINGS = process.env.PLAT_FULL === '1' ? 240 : 120;
const market = makeMarket({ seed: 9, listings: LISTINGS });
const listings = Array.from({ length: LISTINGS }, (_, serial) => market.listing(serial));
const byKey = new Map(listings.map((listing) => [textOf(listing, 'ListingKey') ?? '', listing]));

function ownFields(listing: ImportRecord): FieldValues {
  const { Media, Rooms, UnitTypes, OpenHouses, ...fields } = listing;
  return JSON.parse(JSON.stringify(fields));
}

const source: MediaSource = {
  listing: async (key) => {
    const listing = byKey.get(key);
    return listing && ownFields(listing);
  },
  rooms: async (key) => childrenOf(byKey.get(key) ?? {}, 'Rooms'),
};

const paths = listings.flatMap((listing) =>
  childrenOf(listing, 'Media').map(({ MediaURL }) => String(MediaURL)),
);

/** The drawing: of a photo, its vectors. */
const drawn = (file: DrawnFile | undefined): string =>
  file === undefined ? '' : file.kind === 'photo' ? file.svg : file.body;

describe('the files of the market', () => {
  it('exist and are well-formed, each with its type', async () => {
    for (const path of paths) {
      const file = await drawFile(path, source);
      assert.ok(file !== undefined, `${path} is missing`);
      const svg = drawn(file);
      if (file.kind === 'whole') {
        assert.equal(file.type, path.endsWith('.pdf') ? 'application/pdf' : 'image/svg+xml');
        if (path.endsWith('.pdf')) continue;
      } else assert.ok(path.endsWith(file.format === 'jpeg' ? '.jpg' : '.webp'), path);
      assert.equal(XMLValidator.validate(svg), true, path);
      assert.doesNotMatch(svg, /NaN|undefined|Infinity|<script|href="(?!#)|\d\.\d{4}/, path);
    }
  });

  it('use no id twice, and refer to no missing one', async () => {
    for (const path of paths.slice(0, 800)) {
      const file = await drawFile(path, source);
      if (file === undefined || path.endsWith('.pdf')) continue;
      const svg = drawn(file);
      const ids = [...svg.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
      assert.equal(new Set(ids).size, ids.length, path);
      for (const [, id] of svg.matchAll(/(?:url\(#|href="#)([^)"]+)/g))
        assert.ok(ids.includes(id), `${path} lacks ${id}`);
    }
  });

  it('are photos of moderate size, of every scene', async () => {
    const scenes = new Set<string>();
    for (const path of paths.filter((each) => each.startsWith('photo/'))) {
      scenes.add(path.replace(/^.*-(\w+)\.(jpg|webp)$/, '$1'));
      const file = await drawFile(path, source);
      const size = drawn(file).length;
      assert.ok(size > 1200 && size < 11_000, `${path} has ${size} bytes`);
    }
    assert.deepEqual([...scenes].sort(), [...SCENES].sort());
  });

  it('stay the same when status and price change, and differ between listings', async () => {
    const [path = ''] = paths;
    const first = await drawFile(path, source);
    const sold: MediaSource = {
      ...source,
      listing: async (key) => ({
        ...(await source.listing(key)),
        ListPrice: 1,
        StandardStatus: 'Closed',
        CloseDate: '2026-01-02',
      }),
    };
    assert.deepEqual(await drawFile(path, sold), first);
    const fronts = await Promise.all(
      paths.filter((each) => /-P01-front\.(jpg|webp)$/.test(each)).map((each) => drawFile(each, source)),
    );
    assert.equal(new Set(fronts.map(drawn)).size, fronts.length);
  });

  it('are vectors if a record of an older market names them so', async () => {
    const [path = ''] = paths;
    const file = await drawFile(path.replace(/\w+$/, 'svg'), source);
    assert.ok(file?.kind === 'whole' && file.body.startsWith('<svg '));
  });

  it('are one-page PDF documents with a correct cross-reference table', async () => {
    const documents = paths.filter((path) => path.startsWith('document/'));
    assert.ok(documents.length > 20);
    for (const path of documents) {
      const body = drawn(await drawFile(path, source));
      assert.match(body, /^%PDF-1\.4\n/);
      assert.match(body, /%%EOF\n$/);
      const table = Number(/startxref\n(\d+)\n/.exec(body)?.[1]);
      assert.equal(body.slice(table, table + 4), 'xref');
      const offsets = [...body.slice(table).matchAll(/(\d{10}) 00000 n /g)].map(([, offset]) =>
        Number(offset),
      );
      assert.deepEqual(
        offsets.map((offset, index) => body.slice(offset, offset + 8) === `${index + 1} 0 obj\n`),
        [true, true, true, true, true],
      );
      const [, length, stream] = /<< \/Length (\d+) >>\nstream\n([\s\S]*)\nendstream/.exec(body) ?? [];
      assert.equal(stream?.length, Number(length));
    }
  });

  it('name the brokerage on a branded tour only', async () => {
    const named: MediaSource = {
      ...source,
      listing: async (key) => ({ ...(await source.listing(key)), ListOfficeName: 'Harbor & Key Realty' }),
    };
    const tours = paths.filter((path) => path.startsWith('tour/'));
    const branded = tours.find((path) => path.endsWith('-branded.svg')) ?? '';
    const plain = tours.find((path) => path.endsWith('-unbranded.svg')) ?? '';
    assert.match(drawn(await drawFile(branded, named)), /Presented by Harbor &#38; Key Realty</);
    assert.match(drawn(await drawFile(branded, source)), /Presented by the listing office</);
    assert.doesNotMatch(drawn(await drawFile(plain, named)), /Presented by/);
  });

  it('reveal neither the address nor the owner of a listing', async () => {
    for (const path of paths.filter((each) => !each.startsWith('photo/')).slice(0, 150)) {
      const file = await drawFile(path, source);
      const listing = listings.find((each) => path.includes(textOf(each, 'ListingKey') ?? 'none'));
      for (const field of ['StreetName', 'City', 'PostalCode', 'OwnerName', 'ParcelNumber']) {
        const value = listing && textOf(listing, field);
        assert.ok(value === undefined || !drawn(file).includes(value), `${path} shows ${field}`);
      }
    }
  });

  it('do not exist for a path, listing or plan of another market', async () => {
    const plan = paths.find((path) => path.startsWith('plan/')) ?? '';
    const [photo = ''] = paths;
    const land = listings.find((listing) => listing.PropertyType === 'Land');
    const landPlan = `plan/2001.${land?.OriginatingSystemID}.${land?.ListingKey}.svg`;
    for (const path of [
      'photo/../secret.svg',
      'photo/20260101000000000000000000-P01-front.svg',
      'photo/20260101000000000000000000-P01-front.jpg',
      ...['jpg', 'webp', 'png']
        .filter((ending) => !photo.endsWith(ending))
        .map((ending) => photo.replace(/\w+$/, ending)),
      plan.replace(/M\d+/, 'M00000999'),
      landPlan,
    ]) {
      assert.equal(await drawFile(path, source), undefined, path);
    }
  });
});
