/**
 * A map of points without tiles: nothing is loaded from other hosts. It draws outlines of places; if none are known, it draws them
 * around the points of each place. The page must show the same content as text. This module must not know what a point stands for.
 */
import './leaflet-html.ts';

import {
  type CircleMarker,
  canvas,
  circleMarker,
  type FeatureGroup,
  featureGroup,
  type Map as LeafletMap,
  latLngBounds,
  map as mapOf,
  polygon,
} from 'leaflet';
import 'leaflet/dist/leaflet.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Point, placesOf } from './hull.ts';
import './map.css';

export type Tone = 'main' | 'warn' | 'soft';

export interface MapPoint extends Point {
  readonly id: string;
  /** For people. */
  readonly label: string;
  /** The place to whose outline the point belongs; empty: none. */
  readonly place: string;
  readonly tone: Tone;
}

type Corner = [latitude: number, longitude: number];

/** A place with its parts; each part has an outer ring, then holes. */
export interface PlaceOutline {
  readonly name: string;
  readonly parts: readonly Corner[][][];
}

interface MapProps {
  readonly label: string;
  readonly points: readonly MapPoint[];
  /** Outlines below the points; empty: none are known. */
  readonly outlines: readonly PlaceOutline[];
  readonly picked: string | undefined;
  readonly onPick: (id: string) => void;
  /** Called with the points in view. */
  readonly onView: (points: readonly MapPoint[]) => void;
}

const TONES = ['main', 'warn', 'soft', 'line', 'picked'] as const;
type Colors = Readonly<Record<(typeof TONES)[number], string>>;

/** With more outlines than this, their names would overlap. */
const MOST_PLACES = 24;
const RADIUS = 5;

export function PointMap({ label, points, outlines, picked, onPick, onView }: MapProps) {
  const box = useRef<HTMLDivElement>(null);
  const tones = useRef<HTMLSpanElement>(null);
  const [shown, setShown] = useState<LeafletMap>();
  const isDark = useDark();
  const latest = useRef({ points, onPick, onView });
  latest.current = { points, onPick, onView };
  useEffect(() => {
    if (box.current === null) return undefined;
    const made = begun(box.current);
    const view = () => {
      const bounds = made.getBounds();
      const { points: all, onView: report } = latest.current;
      report(all.filter(({ latitude, longitude }) => bounds.contains([latitude, longitude])));
    };
    made.on('moveend', view);
    const watch = new ResizeObserver(() => made.invalidateSize({ animate: false }));
    watch.observe(box.current);
    setShown(made);
    return () => {
      watch.disconnect();
      made.remove();
    };
  }, []);
  useEffect(() => {
    if (shown === undefined || points.length === 0) return;
    const bounds = latLngBounds(points.map(({ latitude, longitude }) => [latitude, longitude]));
    shown.fitBounds(bounds, { padding: [24, 24], maxZoom: 15, animate: false });
  }, [shown, points]);
  useEffect(() => {
    if (shown === undefined || tones.current === null) return undefined;
    const layers = drawn({ points, outlines, picked }, colorsIn(tones.current), (id) =>
      latest.current.onPick(id),
    );
    layers.addTo(shown);
    return () => void layers.remove();
  }, [shown, points, outlines, picked, isDark]);
  return (
    <div class="point-map">
      <div class="frame-of-map">
        <div ref={box} class="box" role="application" aria-label={label} aria-describedby="map-keys" />
        <div class="zoom">
          <button type="button" class="quiet" aria-label="Zoom in" onClick={() => shown?.zoomIn()}>
            +
          </button>
          <button type="button" class="quiet" aria-label="Zoom out" onClick={() => shown?.zoomOut()}>
            −
          </button>
        </div>
      </div>
      <p id="map-keys" class="hint">
        Drag the map, or move it with the arrow keys and zoom with + and −.{' '}
        {outlines.length === 0
          ? 'The lines are drawn around the listings of each city.'
          : 'The lines are the outlines of places.'}
      </p>
      <span ref={tones} class="tones">
        {TONES.map((tone) => (
          <span key={tone} class={`tone-${tone}`} />
        ))}
      </span>
    </div>
  );
}

/** Creates the map without Leaflet's controls, which it writes as HTML, which the policy of the page forbids. */
function begun(box: HTMLElement): LeafletMap {
  const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
  return mapOf(box, {
    preferCanvas: true,
    renderer: canvas({ padding: 0.3, tolerance: 4 }),
    zoomControl: false,
    attributionControl: false,
    scrollWheelZoom: false,
    zoomSnap: 0.5,
    minZoom: 2,
    maxZoom: 18,
    zoomAnimation: !isStill,
    fadeAnimation: !isStill,
    inertia: !isStill,
    center: [0, 0],
    zoom: 2,
  });
}

function useDark(): boolean {
  const [isDark, setDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches);
  useEffect(() => {
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const change = () => setDark(scheme.matches);
    scheme.addEventListener('change', change);
    return () => scheme.removeEventListener('change', change);
  }, []);
  return isDark;
}

/** The colors of elements with these classes, since a canvas cannot use the style sheet. */
function colorsIn(tones: HTMLElement): Colors {
  const of = (tone: string): string => {
    const element = tones.querySelector(`.tone-${tone}`);
    return element === null ? 'gray' : getComputedStyle(element).color;
  };
  return { main: of('main'), warn: of('warn'), soft: of('soft'), line: of('line'), picked: of('picked') };
}

/** A text as a node, so that it is never interpreted as HTML. */
function node(text: string): HTMLElement {
  const element = document.createElement('span');
  element.textContent = text;
  return element;
}

/** Outlines around the points of each place, if no real ones are known. */
const around = (points: readonly MapPoint[]): readonly PlaceOutline[] =>
  placesOf(points, MOST_PLACES).map(({ name, outline }) => ({
    name,
    parts: [[outline.map(({ latitude, longitude }): Corner => [latitude, longitude])]],
  }));

/** Draws outlines, with their names or, if there are too many, with tooltips. */
function drawOutlines(outlines: readonly PlaceOutline[], line: string, layers: FeatureGroup): void {
  const isNamed = outlines.length <= MOST_PLACES;
  const style = { color: line, weight: 1, fillColor: line, fillOpacity: 0.08, interactive: !isNamed };
  for (const { name, parts } of outlines) {
    for (const [index, part] of parts.entries()) {
      const shape = polygon(part, style).addTo(layers);
      if (!isNamed) shape.bindTooltip(() => node(name), { sticky: true });
      else if (index === 0) {
        shape.bindTooltip(node(name), {
          permanent: true,
          direction: 'center',
          className: 'place',
          interactive: false,
        });
      }
    }
  }
}

function drawn(
  { points, outlines, picked }: Pick<MapProps, 'points' | 'outlines' | 'picked'>,
  colors: Colors,
  onPick: (id: string) => void,
): FeatureGroup {
  const layers = featureGroup();
  drawOutlines(outlines.length === 0 ? around(points) : outlines, colors.line, layers);
  const onTop: CircleMarker[] = [];
  for (const { id, latitude, longitude, label, tone } of points) {
    const isPicked = id === picked;
    const color = isPicked ? colors.picked : colors[tone];
    const marker = circleMarker([latitude, longitude], {
      radius: isPicked ? RADIUS * 1.8 : RADIUS,
      color,
      weight: 1,
      fillColor: color,
      fillOpacity: isPicked ? 0.9 : 0.55,
    })
      .bindTooltip(() => node(label), { direction: 'top' })
      .on('click', () => onPick(id));
    if (isPicked) onTop.push(marker);
    else marker.addTo(layers);
  }
  for (const marker of onTop) marker.addTo(layers);
  return layers;
}
