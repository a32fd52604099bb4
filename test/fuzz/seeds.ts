/** The requests to mutate: all examples of the documents, and some that use every feature. */
import { readFileSync } from 'node:fs';

const page = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');

function linesOf(document: string, kind: string): string[] {
  const blocks = document.matchAll(new RegExp(`^\`\`\`${kind}\n([^]*?)^\`\`\`$`, 'gm'));
  return [...blocks].flatMap(([, block = '']) => block.trimEnd().split('\n'));
}

const MORE = [
  "Property?$filter=Media/any(m:m/Order eq 1 and m/MediaCategory eq 'Photo') and not(BedroomsTotal le 1)&$expand=Media($filter=Order gt 1;$orderby=Order desc;$top=2;$expand=ChangedByMember),ListAgent($select=MemberFullName)&$compute=ListPrice div 2 as Half&$orderby=Half desc,City&$count=true",
  'Property?$search=(pool OR "sea side") AND NOT noisy&$top=5&$skip=3&$select=City,ListPrice&$format=json',
  "Property?$filter=ListPrice gt @a&@a=@b&@b=200000&$orderby=geo.distance(Coordinates,geography'POINT(-85.6 44.7)')",
  "Property('1001')/Media('1001-P1')/MediaURL/$value",
  'Member?$filter=contains(MemberFullName,%27A%27)&$expand=Office($levels=2)',
  'Lookup?$filter=LookupName eq %27StandardStatus%27&$orderby=LookupValue',
  '$metadata?$format=application/xml',
];
const NATIVE_MORE = [
  'listings?_limit=5&_pagination=1&_orderby=-ListPrice,City&_select=City,ListPrice,Photos&_expand=Photos,Rooms',
  'listings?_skiptoken=1003&_limit=2',
  'listings/1001/photos?_limit=1',
  'accounts?_page=2&_limit=2',
  'standardfields',
  'customfields',
  'system',
];

const odata = [...linesOf(page('odata.md'), 'odata'), ...MORE].map((seed) => `/Reso/OData/${seed}`);
const filters = linesOf(page('native-filter.md'), 'filter').map((filter) => `/v1/listings?_filter=${filter}`);

export const SEEDS: readonly string[] = [...odata, ...filters, ...NATIVE_MORE.map((seed) => `/v1/${seed}`)];
