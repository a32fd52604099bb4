/** The current page and its state. Both are in the address, so that every view has a link. */
import { computed, signal } from '@preact/signals';

export const ROOT = '/console';

const address = signal(location.pathname + location.search);
addEventListener('popstate', () => {
  address.value = location.pathname + location.search;
});

/** The segments of the path below the root: `['listing', 'K1']`. */
export const path = computed<readonly string[]>(() => {
  const plain = new URL(address.value, location.origin).pathname.slice(ROOT.length);
  return plain
    .split('/')
    .filter((part) => part !== '')
    .map(decodeURIComponent);
});

/** The state of the page, by name. */
export const query = computed(() => new URL(address.value, location.origin).searchParams);

/** Opens an address of the console. @param replaces whether to replace the current entry in the browser's history */
export function open(to: string, replaces = false): void {
  if (to === address.value) return;
  if (replaces) history.replaceState(null, '', to);
  else history.pushState(null, '', to);
  address.value = to;
}

/** The address of a page with its state; empty values are omitted. */
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

/** Changes a part of the page's state. */
export function change(state: Readonly<Record<string, string | undefined>>, replaces = false): void {
  open(link(path.value, { ...Object.fromEntries(query.value), ...state }), replaces);
}
