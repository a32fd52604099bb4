/**
 * `/v1/listings/nearby`: listings around a point, the nearest first. A listing whose coordinates the key may not see is never
 * returned. Paging is that of `/v1/listings`.
 */
import { platError } from '../../errors/index.ts';
import type { ParameterName } from '../../query/native/parameters.ts';
import { allOf, type Distance, type Expression } from '../../query/tree.ts';
import type { Reply } from '../exchange.ts';
import { bindListings, listingNames, listingPage } from './listings.ts';
import type { RoutedExchange } from './native-request.ts';

const METRES_IN_A_MILE = 1609.344;
/** The default radius in miles. */
const USUAL_DISTANCE = 10;
const GREATEST_DISTANCE = 100;

export async function nearby(request: RoutedExchange): Promise<Reply> {
  const asked = bindListings(request, 'listings/nearby');
  const latitude = coordinate(request, '_lat', 90);
  const longitude = coordinate(request, '_lon', 180);
  const miles = distanceOf(request);
  const found = listingNames(request).find('Location');
  if (found.kind !== 'location') throw platError('resourceUnknown', { name: 'nearby' });
  const distance: Distance = { kind: 'distance', location: found.location, to: { latitude, longitude } };
  const near: Expression = {
    kind: 'compare',
    operator: 'le',
    left: distance,
    right: { kind: 'literal', type: 'decimal', value: miles * METRES_IN_A_MILE },
  };
  const order = [{ expression: distance, descending: false }];
  return listingPage(request, { ...asked, filter: allOf(near, asked.filter), order });
}

function coordinate(request: RoutedExchange, name: '_lat' | '_lon', most: number): number {
  const expected = `a number of degrees from -${most} to ${most}`;
  return parseNumber(request, name, expected, (degrees) => Math.abs(degrees) <= most);
}

function distanceOf(request: RoutedExchange): number {
  if (!request.parameters.given.has('_distance')) return USUAL_DISTANCE;
  const expected = `a number of miles above 0, up to ${GREATEST_DISTANCE}`;
  return parseNumber(request, '_distance', expected, (miles) => miles > 0 && miles <= GREATEST_DISTANCE);
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)$/;

/** @throws PlatError `optionMissing`, `optionInvalid` */
function parseNumber(
  { parameters }: RoutedExchange,
  name: ParameterName,
  expected: string,
  isValid: (value: number) => boolean,
): number {
  const text = parameters.given.get(name)?.trim();
  if (text === undefined) throw platError('optionMissing', { name }, { target: name });
  const value = NUMBER.test(text) ? Number(text) : Number.NaN;
  if (isValid(value)) return value;
  throw platError('optionInvalid', { name, value: text.slice(0, 60), expected }, { target: name });
}
