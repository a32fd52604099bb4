/** Converts the outlines of GET /outlines (GeoJSON) to the form that the map draws. */
import type { PlaceOutline } from '../../parts/map.tsx';

type Rings = readonly (readonly (readonly [longitude: number, latitude: number])[])[];

export interface Outlines {
  readonly features: readonly {
    readonly properties: { readonly name: string };
    readonly geometry:
      | { readonly type: 'Polygon'; readonly coordinates: Rings }
      | { readonly type: 'MultiPolygon'; readonly coordinates: readonly Rings[] };
  }[];
}

/** The largest part of each place comes first, since the name is drawn there. */
export const outlinesIn = ({ features }: Outlines): readonly PlaceOutline[] =>
  features.map(({ properties: { name }, geometry }) => {
    const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates;
    const parts = polygons.map((rings) =>
      rings.map((ring) => ring.map(([longitude, latitude]): [number, number] => [latitude, longitude])),
    );
    return { name, parts: parts.toSorted((one, other) => extent(other) - extent(one)) };
  });

/** The area of the bounding box of an outer ring, in square degrees. */
function extent([outer = []]: readonly (readonly (readonly [number, number])[])[]): number {
  const span = (axis: 0 | 1): number => {
    const values = outer.map((corner) => corner[axis]);
    return (
      values.reduce((most, value) => Math.max(most, value), -180) -
      values.reduce((least, value) => Math.min(least, value), 180)
    );
  };
  return span(0) * span(1);
}
