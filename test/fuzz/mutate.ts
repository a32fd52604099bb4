/** Mutated requests: valid ones that are truncated, duplicated, spliced or nested, with unusual characters and broken encodings. */
import type { Random } from '../oracle/random.ts';

const PIECES = [
  ...'()[]{},:;/$@\'"-+.*?=&%#\\ \t\u0000\u001f\u00e9\u0130\ufeff😀',
  ...['%', '%0', '%zz', '%00', '%ff', '%C3%28', '%ED%A0%80', '%2527', '%2F', '%5C', '%0A', '+', '%2B'],
  ...["''", "'", '"', '/*', '--', ';', "' OR 1=1--", '${', '{{', '../', '<script>'],
  ...[
    ' and ',
    ' or ',
    'not ',
    ' eq ',
    ' ne null',
    ' in (',
    ' has ',
    ' div ',
    ' mod 0',
    ' add ',
    ' desc',
    ' as X',
  ],
  ...[' And ', ' Or ', ' Not ', ' Eq ', ' Bt ', ' Ne NULL', ' Add ', ' Div 0'],
  ...['any(x:', 'all(x:x', '$it/', '$this', '$count', '$filter(', '$root/', '$value', '$ref', '/$count'],
  ...['null', 'true', 'false', 'INF', 'NaN', '-0', '0', '1e309', '-1e-400', '9223372036854775808', '1.'],
  ...[
    '2024-02-30',
    '0000-01-01',
    '9999-12-31T23:59:59.999Z',
    '23:59:60',
    "duration'P1D'",
    "duration'P999999999D'",
  ],
  ...[
    'case(',
    'cast(',
    'isof(',
    'concat(',
    'substring(',
    'round(',
    'geo.distance(',
    "geography'POINT(",
    'now()',
  ],
  ...['matchespattern(City,', "'(a+)+$'", "regex('", "radius('", "polygon('", "wkt('", 'days(', "'*?*'"],
  ...[
    'Media/',
    'Appliances',
    'ListAgent/',
    'Office',
    'Coordinates',
    'City',
    'ListPrice',
    'Location',
    '@p',
    '@p=@p',
  ],
  ...[
    '&$top=',
    '&$skip=',
    '&$count=true',
    '&$expand=*',
    '&$levels=max',
    '&$search=',
    '&$skiptoken=',
    '&_limit=',
  ],
  ...[
    '&_page=',
    '&_pagination=1',
    '&_orderby=-',
    '&_expand=',
    '&_select=',
    '__proto__',
    'constructor',
    'toString',
  ],
];

const spot = (random: Random, text: string): number => random.between(0, text.length);

function mutation(random: Random, text: string, other: string): string {
  const [one, two] = [spot(random, text), spot(random, text)];
  const [start, end] = one < two ? [one, two] : [two, one];
  const short = Math.min(end, start + random.between(1, 12));
  switch (random.between(0, 9)) {
    case 0:
    case 1:
      return text.slice(0, start) + random.pick(PIECES) + text.slice(start);
    case 2:
      return text.slice(0, start) + random.pick(PIECES) + text.slice(short);
    case 3:
      return text.slice(0, start) + text.slice(short);
    case 4:
      return text.slice(0, end) + text.slice(start);
    case 5:
      return text.slice(0, start) + other.slice(spot(random, other));
    case 6: {
      const depth = random.pick([1, 2, 3, 50, 101, 400]);
      const open = random.pick(['(', 'not (', '-(', 'tolower(', 'Not (', 'any(a:']);
      return (
        text.slice(0, start) +
        open.repeat(depth) +
        text.slice(start, end) +
        ')'.repeat(depth) +
        text.slice(end)
      );
    }
    case 7: {
      const times = random.pick([2, 3, 10, 100]);
      return text.slice(0, short) + text.slice(start, short).repeat(times) + text.slice(short);
    }
    case 8: {
      const character = text.charAt(start);
      const turned = random.chance(0.5) ? character.toUpperCase() : character.toLowerCase();
      return text.slice(0, start) + turned + text.slice(start + 1);
    }
    default:
      return text.slice(0, start) + String.fromCodePoint(random.between(1, 0xd7ff)) + text.slice(start + 1);
  }
}

const WORDS = /'[^']*'|[\w.-]+|[()/:,]/g;

/** Replaces one word by another, of the same request or of any other. */
function swapped(random: Random, text: string, other: string): string {
  const words = [...text.matchAll(WORDS)];
  const target = random.among(words);
  const [word = ''] = random.among([...other.matchAll(WORDS)]) ?? [];
  if (target === undefined) return text;
  return text.slice(0, target.index) + word + text.slice(target.index + target[0].length);
}

const cut = (seed: string): [path: string, query: string] => {
  const at = seed.indexOf('?');
  return at < 0 ? [seed, ''] : [seed.slice(0, at), seed.slice(at)];
};

/** One to four mutations, mostly of the query. */
export function mutated(random: Random, seeds: readonly string[]): string {
  const [path, query] = cut(random.among(seeds) ?? '');
  const inPath = query === '' || random.chance(0.08);
  let text = inPath ? path : query;
  for (let left = random.pick([1, 1, 1, 2, 2, 3, 4]); left > 0; left -= 1) {
    const [otherPath, otherQuery] = cut(random.among(seeds) ?? '');
    const other = inPath ? otherPath : otherQuery;
    text = random.chance(0.5) ? swapped(random, text, other) : mutation(random, text, other);
  }
  return (inPath ? text + query : path + text).toWellFormed();
}
