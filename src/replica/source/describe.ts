/** What a source can do, in words. */
import type { Capabilities } from './source.ts';

/** How single records are given, where that is unusual. */
const RECORDS: Readonly<Record<'path' | 'filter' | 'none', readonly string[]>> = {
  path: [],
  filter: ['returns a record by a filter on its key, not at its URL'],
  none: ['returns no single records, so a record that becomes visible with an old timestamp is not fetched'],
};

export function describe(capabilities: Capabilities): string[] {
  const {
    isPlat,
    children,
    expansions,
    windowField,
    pagesByLink,
    counts,
    resources,
    byKey = 'path',
    lacking = [],
  } = capabilities;
  const ways: Readonly<Record<Capabilities['children'], string>> = {
    expanded: `sub-resources arrive with the listings (${expansions.join(', ')})`,
    'per-listing': `sub-resources are requested listing by listing (${expansions.join(', ')})`,
    none: 'the source returns no sub-resources',
  };
  return [
    isPlat ? 'a plat service' : 'a service of another kind',
    `copies ${resources.join(', ')}`,
    ...(lacking.length === 0 ? [] : [`has no ${lacking.join(', ')}`]),
    pagesByLink ? 'pages by link or token' : 'pages by offset, so sweeps are repeated until two agree',
    counts ? 'returns the number of its records' : 'does not return the number of its records',
    ...RECORDS[byKey],
    ways[children],
    `windows are on ${windowField}`,
  ];
}
