import type { Scene } from '../media-keys.ts';
import type { FieldValues } from '../values.ts';
import { wordOf } from './facts.ts';
import { HEIGHT, WIDTH } from './outdoors.ts';
import { drawScene } from './photo.ts';
import { document, group, rect, text } from './svg.ts';

const WORDS: Readonly<Partial<Record<Scene, string>>> = {
  front: 'Outside',
  living: 'Living room',
  kitchen: 'Kitchen',
  bedroom: 'Bedroom',
  office: 'Office',
  garden: 'Garden',
  lot: 'The lot',
  view: 'The view',
};

/** What a walk through a listing passes. */
function stationsOf(listing: FieldValues): readonly [Scene, Scene, Scene] {
  switch (wordOf(listing, 'PropertyType')) {
    case 'Land':
      return ['lot', 'view', 'lot'];
    case 'Commercial Sale':
      return ['front', 'office', 'view'];
    default:
      return ['living', 'kitchen', 'bedroom'];
  }
}

const FONT = { 'font-family': 'Helvetica, Arial, sans-serif', fill: '#ffffff' };

function band(x: number, words: string): string {
  return group([
    rect(x, HEIGHT - 64, WIDTH, 64, { fill: '#1f2933', 'fill-opacity': 0.62 }),
    text(x + 32, HEIGHT - 24, words, { ...FONT, 'font-size': 28 }),
  ]);
}

/** A virtual tour as one wide picture of three rooms, 3600 by 800; the branded one names the brokerage. */
export function drawTour(branded: boolean, seed: number, listing: FieldValues): string {
  const stations = stationsOf(listing);
  const office = wordOf(listing, 'ListOfficeName');
  const presented = office === '' ? 'Presented by the listing office' : `Presented by ${office}`;
  const rooms = stations.map((scene, index) =>
    group([drawScene(scene, seed + index, listing, `s${index}`), band(0, WORDS[scene] ?? '')], {
      transform: `translate(${index * WIDTH} 0)`,
    }),
  );
  const posts = [WIDTH, 2 * WIDTH].map((x) => rect(x - 12, 0, 24, HEIGHT, { fill: '#f4f1ea' }));
  const sign = branded
    ? [
        rect(3 * WIDTH - 720, 28, 690, 68, { fill: '#1f2933', 'fill-opacity': 0.75, rx: 8 }),
        text(3 * WIDTH - 692, 72, presented, { ...FONT, 'font-size': Math.min(28, 1260 / presented.length) }),
      ]
    : [];
  return document(3 * WIDTH, HEIGHT, [...rooms, ...posts, ...sign]);
}

const SECONDS_EACH = 5;

/** A short film: the front, three rooms and the garden, one fading into the next. */
export function drawVideo(seed: number, listing: FieldValues): string {
  const scenes: Scene[] = ['front', ...stationsOf(listing)];
  const whole = scenes.length * SECONDS_EACH;
  const parts = scenes.map((scene, index) => {
    const from = index / scenes.length;
    const to = (index + 1) / scenes.length;
    const fade = 0.03;
    // The first picture lies under all others and needs no fade.
    const animation =
      index === 0
        ? ''
        : `<animate attributeName="opacity" dur="${whole}s" repeatCount="indefinite" values="0;0;1;1;0" keyTimes="0;${from};${from + fade};${to - (index === scenes.length - 1 ? fade : 0)};${index === scenes.length - 1 ? 1 : Math.min(1, to + fade)}"/>`;
    return group(
      [animation, drawScene(scene, seed + index, listing, `v${index}`), band(0, WORDS[scene] ?? '')],
      {
        opacity: index === 0 ? 1 : 0,
      },
    );
  });
  return document(WIDTH, HEIGHT, parts);
}
