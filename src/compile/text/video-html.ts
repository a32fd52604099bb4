/**
 * What shows a video in a page, for videos that bring no HTML of their own: the player of its site, the file itself, or
 * a link at least. The compiler writes it in SQL from the same table (`sql/native-part-text.ts`); a consumer tells by it
 * what a source derived from what it holds.
 */

/** A kind of address, and the element that shows it; the first whose pattern an address matches decides. */
export interface VideoForm {
  /** In the language that both engines take (RE2), matched without regard to case. */
  readonly pattern: string;
  /** What the address begins with, and what the player's begins with instead. */
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

/** What stands before the address, between it and the name, and behind the name, which links alone show. */
export const ELEMENTS = {
  iframe: { before: '<iframe src="', between: '" allowfullscreen></iframe>' },
  video: { before: '<video src="', between: '" controls></video>' },
  a: { before: '<a href="', between: '">', behind: '</a>' },
} as const;

/** The name of a video without one. */
export const UNNAMED_VIDEO = 'Video';

/** Characters that HTML takes for its own, and what stands for them; the first is in all the others. */
export const HTML_CHARACTERS: readonly (readonly [string, string])[] = [
  ['&', '&amp;'],
  ['"', '&quot;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
];

const escaped = (text: string): string =>
  HTML_CHARACTERS.reduce((found, [character, entity]) => found.replaceAll(character, entity), text);

/** The HTML of a video without its own; empty for an address that no page can show. */
export function videoHtml(url: string, name: string | null): string {
  const form = VIDEO_FORMS.find(({ pattern }) => new RegExp(pattern, 'i').test(url));
  if (form === undefined) return '';
  const { element, player } = form;
  const address = player === undefined ? url : url.replaceAll(player.begins, player.instead);
  const { before, between } = ELEMENTS[element];
  const shown = element === 'a' ? `${escaped(name ?? UNNAMED_VIDEO)}${ELEMENTS.a.behind}` : '';
  return `${before}${escaped(address)}${between}${shown}`;
}
