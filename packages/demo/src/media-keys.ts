import { photoShape } from './photo-shape.ts';

/**
 * Keys of media say what they show and of which listing, so that a file can be drawn from its name:
 * `<ListingKey>-P03-kitchen` (photo), `-T01-branded` (tour), `-V01-walk` (video), `-D01-disclosure` (document);
 * a floor plan has `<number>.<OUID>.<ListingKey>` (reference: floor plan media).
 */
export const SCENES = [
  'front',
  'living',
  'kitchen',
  'dining',
  'bedroom',
  'bath',
  'office',
  'garden',
  'view',
  'lot',
] as const;
export type Scene = (typeof SCENES)[number];

export const DOCUMENTS = ['disclosure', 'survey'] as const;
export type DocumentKind = (typeof DOCUMENTS)[number];

export type MediaName =
  | { readonly kind: 'photo'; readonly listing: string; readonly order: number; readonly scene: Scene }
  | { readonly kind: 'tour'; readonly listing: string; readonly order: number; readonly branded: boolean }
  | { readonly kind: 'video'; readonly listing: string; readonly order: number }
  | {
      readonly kind: 'document';
      readonly listing: string;
      readonly order: number;
      readonly about: DocumentKind;
    }
  | { readonly kind: 'plan'; readonly listing: string; readonly number: number; readonly system: string };

const two = (order: number): string => order.toString().padStart(2, '0');

export function mediaKey(name: MediaName): string {
  switch (name.kind) {
    case 'photo':
      return `${name.listing}-P${two(name.order)}-${name.scene}`;
    case 'tour':
      return `${name.listing}-T${two(name.order)}-${name.branded ? 'branded' : 'unbranded'}`;
    case 'video':
      return `${name.listing}-V${two(name.order)}-walk`;
    case 'document':
      return `${name.listing}-D${two(name.order)}-${name.about}`;
    case 'plan':
      return `${name.number}.${name.system}.${name.listing}`;
  }
}

type Ending = 'svg' | 'pdf' | 'jpg' | 'webp';

function endingOf(name: MediaName): Ending {
  switch (name.kind) {
    case 'photo':
      return photoShape(name.listing).format === 'jpeg' ? 'jpg' : 'webp';
    case 'document':
      return 'pdf';
    case 'tour':
    case 'video':
    case 'plan':
      return 'svg';
  }
}

/** The path of a file below the service's media address. */
export function mediaPath(name: MediaName): string {
  return `${name.kind}/${mediaKey(name)}.${endingOf(name)}`;
}

const ITEM = /^(\d{26})-([PTVD])(\d{2,3})-([a-z]+)$/;
const PLAN = /^(\d{1,12})\.([A-Za-z0-9]{1,25})\.(\d{26})$/;

/** Reads a media key; undefined when no file of this market has it. */
export function parseMediaKey(key: string): MediaName | undefined {
  const plan = PLAN.exec(key);
  if (plan !== null) {
    const [, number = '', system = '', listing = ''] = plan;
    return { kind: 'plan', listing, number: Number(number), system };
  }
  const [, listing, letter, digits = '', word = ''] = ITEM.exec(key) ?? [];
  if (listing === undefined) return undefined;
  const order = Number(digits);
  switch (letter) {
    case 'P': {
      const scene = SCENES.find((known) => known === word);
      return scene && { kind: 'photo', listing, order, scene };
    }
    case 'T':
      if (word !== 'branded' && word !== 'unbranded') return undefined;
      return { kind: 'tour', listing, order, branded: word === 'branded' };
    case 'V':
      return word === 'walk' ? { kind: 'video', listing, order } : undefined;
    default: {
      const about = DOCUMENTS.find((known) => known === word);
      return about && { kind: 'document', listing, order, about };
    }
  }
}

/** What a path requests. */
interface MediaFile {
  readonly name: MediaName;
  /** Photos of markets that were made before there were others are drawings. */
  readonly isDrawing: boolean;
}

/** Reads a path as `mediaPath` writes it, or wrote it; undefined for any other text. */
export function parseMediaPath(path: string): MediaFile | undefined {
  const [, key = '', ending] = /^[a-z]+\/([\w.-]+)\.(svg|pdf|jpg|webp)$/.exec(path) ?? [];
  const name = parseMediaKey(key);
  if (name === undefined) return undefined;
  const isDrawing = ending === 'svg';
  const drawn = isDrawing && name.kind === 'photo' ? `photo/${mediaKey(name)}.svg` : mediaPath(name);
  return drawn === path ? { name, isDrawing } : undefined;
}
