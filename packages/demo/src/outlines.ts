import { type Corner, OUTLINES } from './data/outlines.ts';

/** A town with its limits: a GeoJSON feature (RFC 7946). */
interface TownOutline {
  readonly type: 'Feature';
  readonly properties: { readonly name: string };
  readonly geometry: { readonly type: 'Polygon'; readonly coordinates: readonly (readonly Corner[])[] };
}

/** The outlines of the towns of every market, each named as the City of its listings: degrees, longitude first. */
export function marketOutlines(): {
  readonly type: 'FeatureCollection';
  readonly features: readonly TownOutline[];
} {
  return {
    type: 'FeatureCollection',
    features: Object.entries(OUTLINES).map(([name, corners]) => ({
      type: 'Feature',
      properties: { name },
      geometry: { type: 'Polygon', coordinates: [[...corners, ...corners.slice(0, 1)]] },
    })),
  };
}
