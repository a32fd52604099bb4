import { timestampText } from '../dates.ts';
import { type MediaName, mediaKey, mediaPath, type Scene } from '../media-keys.ts';
import { photoShape } from '../photo-shape.ts';
import type { Random } from '../random.ts';
import { type Fields, filled } from '../records.ts';
import type { FieldValues } from '../values.ts';
import type { Premises } from './premises.ts';
import type { Room } from './rooms.ts';

/** What a photo of a scene shows, in the dictionary's ImageOf and in words. */
const SHOWN: Readonly<Record<Scene, readonly [imageOf: string, captions: readonly string[]]>> = {
  front: ['Front of Structure', ['Front', 'From the street', 'Front on a clear day']],
  living: ['Living Room', ['Living room', 'Living room by the window', 'Room to sit together']],
  kitchen: ['Kitchen', ['Kitchen', 'Kitchen with all appliances', 'Kitchen window']],
  dining: ['Dining Room', ['Dining room', 'Table for six']],
  bedroom: ['Bedroom', ['Bedroom', 'Main bedroom', 'Bedroom with a view of the yard']],
  bath: ['Bathroom', ['Bathroom', 'Full bath', 'Bath with window']],
  office: ['Office', ['Office', 'Desk by the window']],
  garden: ['Yard', ['Garden', 'Back yard', 'Patio and garden']],
  view: ['View', ['View', 'View from the upper window', 'Looking west']],
  lot: ['Lot', ['The lot', 'Lot from the road', 'Along the lot line']],
};

/** The scenes of a listing in the order of its photos: the first is the one that all lists show. */
function sceneOrder({ kind }: Premises, rooms: readonly Room[]): Scene[] {
  if (kind === 'land') return Array.from({ length: 14 }, (_, index) => (index % 3 === 1 ? 'view' : 'lot'));
  const has = (...types: readonly string[]): boolean => rooms.some(({ type }) => types.includes(type));
  const inside: Scene[] =
    kind === 'commercial'
      ? ['office', 'office', 'kitchen', 'bath', 'office', 'view']
      : [
          'living',
          'kitchen',
          ...(has('Dining Room') ? (['dining'] as const) : []),
          'bedroom',
          'bath',
          'bedroom',
        ];
  const work: Scene[] = has('Office', 'Den', 'Library') ? ['office'] : ['view'];
  const outside: Scene[] = kind === 'flat' ? ['view', 'garden'] : ['garden', 'view'];
  return ['front', ...inside, ...outside, ...work, 'living', 'bath', 'kitchen', 'garden', 'bedroom', 'front'];
}

/** A drawing, as a film is one. */
const DRAWING: Fields = { MediaType: 'svg', ImageWidth: 1200, ImageHeight: 800 };

/** Who may see one photo: mostly all who see the listing. */
function drawPermission(order: number, random: Random): string[] | undefined {
  return random.weighted([
    [undefined, 86],
    [['Public'], 7],
    [['IDX'], 5],
    [['Private'], order === 0 ? 0 : 1],
    [['Agent Only'], order === 0 ? 0 : 1],
  ]);
}

/** The fields that all media of a listing share. */
function mediaRecord(name: MediaName, fields: Fields): FieldValues {
  return filled({
    MediaKey: mediaKey(name),
    ResourceName: 'Property',
    ResourceRecordKey: name.listing,
    MediaURL: mediaPath(name),
    ...fields,
  });
}

/** A photo of a scene; `order` counts from 0, and 0 is the preferred one. */
export function photoRecord(listing: string, order: number, scene: Scene, random: Random): FieldValues {
  const [imageOf, captions] = SHOWN[scene];
  const caption = random.pick(captions);
  const { format, width, height } = photoShape(listing);
  return mediaRecord(
    { kind: 'photo', listing, order: order + 1, scene },
    {
      MediaCategory: 'Photo',
      MediaType: format,
      ImageWidth: width,
      ImageHeight: height,
      ImageOf: imageOf,
      Order: order,
      PreferredPhotoYN: order === 0,
      ShortDescription: caption,
      LongDescription: random.chance(0.2) ? `${caption}, photographed by the listing office.` : undefined,
    },
  );
}

/** What a listing shows, and how often it shows what. */
interface MediaSet {
  readonly records: readonly FieldValues[];
  readonly photos: number;
  readonly videos: number;
  readonly documents: number;
}

interface MediaOf {
  readonly listing: string;
  readonly system: string;
  readonly entered: number;
  /** The number of the floor plan; absent when there is none. */
  readonly plan?: number;
}

/** Draws the media of a listing: photos, then the floor plan, tours, video and documents. */
export function drawMedia(of: MediaOf, premises: Premises, rooms: readonly Room[], random: Random): MediaSet {
  const { listing } = of;
  const taken = { MediaModificationTimestamp: timestampText(of.entered + random.integer(60, 3000) * 1000) };
  const photos = random.integer(6, 14);
  const records: FieldValues[] = sceneOrder(premises, rooms)
    .slice(0, photos)
    .map((scene, order) =>
      filled(photoRecord(listing, order, scene, random), {
        ...taken,
        Permission: drawPermission(order, random),
      }),
    );
  let order = photos;
  const add = (name: MediaName, fields: Fields): void => {
    records.push(mediaRecord(name, { ...fields, ...taken, Order: order++ }));
  };
  if (of.plan !== undefined) {
    add(
      { kind: 'plan', listing, number: of.plan, system: of.system },
      {
        MediaCategory: 'Floor Plan',
        MediaType: 'svg',
        ImageOf: 'Floor Plan',
        ImageWidth: 1400,
        ImageHeight: 1000,
        FloplanKey: of.plan.toString(),
        FloplanImageType: ['all_in_one_svg'],
        ShortDescription: 'Floor Plan',
      },
    );
  }
  const toured = random.chance(0.35);
  for (const branded of toured ? (random.chance(0.6) ? [false, true] : [false]) : []) {
    add(
      { kind: 'tour', listing, order: branded ? 2 : 1, branded },
      {
        MediaCategory: branded ? 'Branded Virtual Tour' : 'Unbranded Virtual Tour',
        MediaType: 'svg',
        ShortDescription: 'Virtual tour',
      },
    );
  }
  const videos = random.chance(0.15) ? 1 : 0;
  if (videos > 0) {
    add(
      { kind: 'video', listing, order: 1 },
      { MediaCategory: 'Video', ...DRAWING, ShortDescription: 'A walk through' },
    );
  }
  const documents = random.weighted([
    [0, 60],
    [1, 28],
    [2, 12],
  ]);
  for (const about of (['disclosure', 'survey'] as const).slice(0, documents)) {
    add(
      { kind: 'document', listing, order: about === 'disclosure' ? 1 : 2, about },
      {
        MediaCategory: 'Document',
        MediaType: 'pdf',
        ShortDescription: about === 'disclosure' ? 'Seller disclosure' : 'Survey notes',
        Permission: random.chance(0.6) ? ['Public'] : ['Agent Only'],
      },
    );
  }
  return { records, photos, videos, documents };
}
