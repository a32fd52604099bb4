/** Where in the console a person is: the page and its state, both in the address, so that every view is a link. */
import { computed, signal } from '@preact/signals';

export const ROOT = '/console';

const address = signal(location.pathname + location.search);
addEventListener('popstate', () => {
  address.value = location.pathname + location.search;
});

/** The path below the root, in its parts: `['listing', 'K1']`. */
export const path = computed<readonly string[]>(() => {
  const plain = new URL(address.value, location.origin).pathname.slice(ROOT.length);
  return plain
    .split('/')
    .filter((part) => part !== '')
    .map(decodeURIComponent);
});

/** The state of the page, by its names. */
export const query = computed(() => new URL(address.value, location.origin).searchParams);

/** Opens an address of the console. @param replaces whether the one before is not worth going back to */
export function open(to: string, replaces = false): void {
  if (to === address.value) return;
  if (replaces) history.replaceState(null, '', to);
  else history.pushState(null, '', to);
  address.value = to;
}

/** The address of a page with its state; what is empty is omitted. */
export function link(
  parts: readonly string[],
  state: Readonly<Record<string, string | undefined>> = {},
): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(state))
    if (value !== undefined && value !== '') search.set(name, value);
  const text = search.toString();
  return `${ROOT}/${parts.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`;
}

/** Changes part of the state of the page; the rest stays. */
export function change(state: Readonly<Record<string, string | undefined>>, replaces = false): void {
  open(link(path.value, { ...Object.fromEntries(query.value), ...state }), replaces);
}
