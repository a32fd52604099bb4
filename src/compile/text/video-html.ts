/**
 * The HTML for a video that has none of its own: the player of its site, the file itself, or at least a link. SQL is composed from
 * the same table (native-text.ts), and a replicator recognizes HTML that a source derived.
 */

/** A kind of address and the element that shows it. The first matching pattern decides. */
interface VideoForm {
  /** In the syntax that every engine supports (RE2); matching ignores case. */
  readonly pattern: string;
  /** The beginning of the address, and what replaces it in the address of the player. */
  readonly player?: { readonly begins: string; readonly instead: string };
  readonly element: 'iframe' | 'video' | 'a';
}

const YOUTUBE = 'https://www.youtube.com/embed/';

export const VIDEO_FORMS: readonly VideoForm[] = [
  {
    pattern: '^https://www\\.youtube\\.com/watch\\?v=[A-Za-z0-9_-]+$',
    player: { begins: 'https://www.youtube.com/watch?v=', instead: YOUTUBE },
    element: 'iframe',
  },
  {
    pattern: '^https://youtu\\.be/[A-Za-z0-9_-]+$',
    player: { begins: 'https://youtu.be/', instead: YOUTUBE },
    element: 'iframe',
  },
  {
    pattern: '^https://vimeo\\.com/[0-9]+$',
    player: { begins: 'https://vimeo.com/', instead: 'https://player.vimeo.com/video/' },
    element: 'iframe',
  },
  { pattern: '^https?://[^?#]+\\.(mp4|m4v|mov|webm|ogv)([?#].*)?$', element: 'video' },
  { pattern: '^https?://', element: 'a' },
];

/** The texts before the address, between address and name, and after the name, which only links show. */
export const ELEMENTS = {
  iframe: { before: '<iframe src="', between: '" allowfullscreen></iframe>' },
  video: { before: '<video src="', between: '" controls></video>' },
  a: { before: '<a href="', between: '">', behind: '</a>' },
} as const;

/** The name of an unnamed video. */
export const UNNAMED_VIDEO = 'Video';

/** Characters with a meaning in HTML and their entities. The ampersand comes first, because the other entities contain it. */
export const HTML_CHARACTERS: readonly (readonly [string, string])[] = [
  ['&', '&amp;'],
  ['"', '&quot;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
];

const escaped = (text: string): string =>
  HTML_CHARACTERS.reduce((found, [character, entity]) => found.replaceAll(character, entity), text);

/** The HTML for a video that has none of its own; empty for an address that no page can show. */
export function videoHtml(url: string, name: string | null): string {
  const form = VIDEO_FORMS.find(({ pattern }) => new RegExp(pattern, 'i').test(url));
  if (form === undefined) return '';
  const { element, player } = form;
  const address = player === undefined ? url : url.replaceAll(player.begins, player.instead);
  const { before, between } = ELEMENTS[element];
  const shown = element === 'a' ? `${escaped(name ?? UNNAMED_VIDEO)}${ELEMENTS.a.behind}` : '';
  return `${before}${escaped(address)}${between}${shown}`;
}
