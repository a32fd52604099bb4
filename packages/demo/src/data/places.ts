/**
 * An invented metropolitan area on the lake shore of Michigan: Calder Bay and the towns around it.
 * Only the state is real. West of the shore line is water.
 */
export type Setting = 'urban' | 'suburban' | 'rural' | 'lake';

export interface Neighborhood {
  readonly name: string;
  readonly setting: Setting;
  readonly postalCode: string;
  readonly latitude: number;
  readonly longitude: number;
  /** Price of a square foot of an average house, dollars. */
  readonly pricePerFoot: number;
  /** When most of it was built. */
  readonly built: readonly [from: number, to: number];
}

export interface Town {
  readonly name: string;
  readonly county: string;
  readonly township: string;
  readonly area: string;
  readonly district: string;
  readonly elementary: readonly string[];
  readonly middle: string;
  readonly high: string;
  /** Share of the market. */
  readonly weight: number;
  readonly neighborhoods: readonly Neighborhood[];
}

export const STATE = 'MI';
export const TIME_ZONE = 'America/Detroit';

type Row = readonly [
  name: string,
  setting: Setting,
  postalCode: string,
  latitude: number,
  longitude: number,
  pricePerFoot: number,
  from: number,
  to: number,
];

const around = (...rows: readonly Row[]): readonly Neighborhood[] =>
  rows.map(([name, setting, postalCode, latitude, longitude, pricePerFoot, from, to]) => ({
    name,
    setting,
    postalCode,
    latitude,
    longitude,
    pricePerFoot,
    built: [from, to],
  }));

export const TOWNS: readonly Town[] = [
  {
    name: 'Calder Bay',
    county: 'Calder',
    township: 'City of Calder Bay',
    area: '10 - Calder Bay City',
    district: 'Calder Bay Public Schools',
    elementary: ['Harborview Elementary', 'Lincoln Street Elementary', 'Maple Heights Elementary'],
    middle: 'Calder Bay Middle School',
    high: 'Calder Bay Central High School',
    weight: 30,
    neighborhoods: around(
      ['Old Harbor', 'urban', '49981', 44.621, -86.231, 292, 1896, 1938],
      ['Foundry District', 'urban', '49981', 44.615, -86.219, 318, 1998, 2022],
      ['Maple Heights', 'urban', '49982', 44.633, -86.207, 236, 1918, 1956],
      ['Eastgate', 'suburban', '49982', 44.612, -86.188, 198, 1956, 1982],
      ['University Park', 'suburban', '49982', 44.641, -86.192, 224, 1948, 1974],
      ['Lighthouse Point', 'lake', '49981', 44.649, -86.236, 408, 1962, 2021],
    ),
  },
  {
    name: 'Port Ellery',
    county: 'Calder',
    township: 'Ellery Township',
    area: '12 - Port Ellery Shore',
    district: 'Port Ellery Area Schools',
    elementary: ['North Pier Elementary', 'Orchard Ridge Elementary'],
    middle: 'Port Ellery Middle School',
    high: 'Port Ellery High School',
    weight: 13,
    neighborhoods: around(
      ['Ellery Village', 'suburban', '49983', 44.702, -86.214, 262, 1928, 1994],
      ['North Pier', 'lake', '49983', 44.717, -86.229, 436, 1974, 2023],
      ['Orchard Ridge', 'suburban', '49983', 44.698, -86.187, 229, 1988, 2016],
    ),
  },
  {
    name: 'Wexcombe',
    county: 'Marlow',
    township: 'Wexcombe Township',
    area: '21 - Wexcombe',
    district: 'Wexcombe Community Schools',
    elementary: ['Stonebridge Elementary', 'Fox Hollow Elementary', 'Birch Run Elementary'],
    middle: 'Wexcombe Middle School',
    high: 'Wexcombe High School',
    weight: 17,
    neighborhoods: around(
      ['Wexcombe Center', 'urban', '49985', 44.588, -86.121, 231, 1908, 1962],
      ['Stonebridge', 'suburban', '49985', 44.579, -86.104, 248, 1996, 2020],
      ['Fox Hollow', 'suburban', '49986', 44.597, -86.093, 221, 1978, 2004],
      ['Birch Run Estates', 'suburban', '49986', 44.603, -86.112, 268, 2004, 2024],
    ),
  },
  {
    name: 'Thornfield',
    county: 'Marlow',
    township: 'Thornfield Township',
    area: '23 - Thornfield',
    district: 'Thornfield Public Schools',
    elementary: ['Willow Creek Elementary', 'Prairie Crossing Elementary'],
    middle: 'Thornfield Middle School',
    high: 'Thornfield High School',
    weight: 12,
    neighborhoods: around(
      ['Thornfield Commons', 'suburban', '49987', 44.538, -86.142, 212, 1986, 2012],
      ['Willow Creek', 'suburban', '49987', 44.529, -86.158, 238, 1999, 2023],
      ['Prairie Crossing', 'suburban', '49987', 44.522, -86.131, 204, 1968, 1996],
    ),
  },
  {
    name: 'Hadley Falls',
    county: 'Marlow',
    township: 'City of Hadley Falls',
    area: '25 - Hadley Falls',
    district: 'Hadley Falls School District',
    elementary: ['Mill Row Elementary', 'Cedar Bend Elementary'],
    middle: 'Hadley Falls Middle School',
    high: 'Hadley Falls High School',
    weight: 10,
    neighborhoods: around(
      ['Mill Row', 'urban', '49988', 44.563, -86.018, 186, 1902, 1948],
      ['Falls Overlook', 'suburban', '49988', 44.571, -86.006, 217, 1982, 2014],
      ['Cedar Bend', 'suburban', '49988', 44.552, -86.027, 178, 1954, 1978],
    ),
  },
  {
    name: 'Sable Lake',
    county: 'Teal',
    township: 'Sable Township',
    area: '31 - Sable Lake',
    district: 'Teal County Consolidated Schools',
    elementary: ['Sable Lake Elementary'],
    middle: 'Teal County Middle School',
    high: 'Teal County High School',
    weight: 8,
    neighborhoods: around(
      ['Sable Shores', 'lake', '49990', 44.742, -86.071, 352, 1958, 2018],
      ['Loon Cove', 'lake', '49990', 44.756, -86.083, 331, 1964, 2020],
      ['Pinecrest', 'rural', '49990', 44.729, -86.049, 192, 1966, 2008],
    ),
  },
  {
    name: 'Brannock',
    county: 'Calder',
    township: 'Brannock Township',
    area: '14 - Brannock',
    district: 'Calder Bay Public Schools',
    elementary: ['Quarry Hill Elementary'],
    middle: 'Brannock Middle School',
    high: 'Calder Bay Central High School',
    weight: 6,
    neighborhoods: around(
      ['Brannock Meadows', 'suburban', '49984', 44.662, -86.146, 209, 1992, 2018],
      ['Quarry Hill', 'rural', '49984', 44.671, -86.124, 187, 1948, 1998],
    ),
  },
  {
    name: 'Ashby Grove',
    county: 'Marlow',
    township: 'Ashby Township',
    area: '27 - Ashby Grove',
    district: 'Wexcombe Community Schools',
    elementary: ['Ashby Grove Elementary'],
    middle: 'Wexcombe Middle School',
    high: 'Wexcombe High School',
    weight: 4,
    neighborhoods: around(
      ['Ashby Estates', 'suburban', '49989', 44.617, -86.041, 287, 2001, 2024],
      ['Hunters Glen', 'rural', '49989', 44.628, -86.029, 214, 1984, 2015],
    ),
  },
];
