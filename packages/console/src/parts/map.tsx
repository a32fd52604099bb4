/**
 * A map of points without tiles: nothing comes from another host. Outlines of places are its ground; without any,
 * they are drawn around the points of each place. What it shows must stand beside it as text, too. It must not know what a point is.
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
  /** The place around whose points an outline is drawn; empty: none. */
  readonly place: string;
  readonly tone: Tone;
}

type Corner = [latitude: number, longitude: number];

/** A place with its parts: of each the outer line, then its holes. */
export interface Ground {
  readonly name: string;
  readonly parts: readonly Corner[][][];
}

interface MapProps {
  readonly label: string;
  readonly points: readonly MapPoint[];
  /** Outlines beneath the points; empty: none are known. */
  readonly ground: readonly Ground[];
  readonly picked: string | undefined;
  readonly onPick: (id: string) => void;
  /** Told which points are in view. */
  readonly onView: (points: readonly MapPoint[]) => void;
}

const TONES = ['main', 'warn', 'soft', 'line', 'picked'] as const;
type Colors = Readonly<Record<(typeof TONES)[number], string>>;

/** Outlines with names beyond these would cover each other. */
const MOST_PLACES = 24;
const RADIUS = 5;

export function PointMap({ label, points, ground, picked, onPick, onView }: MapProps) {
  const box = useRef<HTMLDivElement>(null);
  const tones = useRef<HTMLSpanElement>(null);
  const [shown, setShown] = useState<LeafletMap>();
  const isDark = useDark();
  const told = useRef({ points, onPick, onView });
  told.current = { points, onPick, onView };
  useEffect(() => {
    if (box.current === null) return undefined;
    const made = begun(box.current);
    const view = () => {
      const bounds = made.getBounds();
      const { points: all, onView: tell } = told.current;
      tell(all.filter(({ latitude, longitude }) => bounds.contains([latitude, longitude])));
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
    const layers = drawn({ points, ground, picked }, colorsIn(tones.current), (id) =>
      told.current.onPick(id),
    );
    layers.addTo(shown);
    return () => void layers.remove();
  }, [shown, points, ground, picked, isDark]);
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
        {ground.length === 0
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

/** Leaflet writes its own controls as HTML, which the policy of the page forbids: the map has none of them. */
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

/** A canvas knows no style sheet: the colors are those of elements that have them. */
function colorsIn(tones: HTMLElement): Colors {
  const of = (tone: string): string => {
    const element = tones.querySelector(`.tone-${tone}`);
    return element === null ? 'gray' : getComputedStyle(element).color;
  };
  return { main: of('main'), warn: of('warn'), soft: of('soft'), line: of('line'), picked: of('picked') };
}

/** A text is given as a node, so that whatever stands in it stays text. */
function node(text: string): HTMLElement {
  const element = document.createElement('span');
  element.textContent = text;
  return element;
}

/** Lines around the points of each place, where no outlines are known. */
const around = (points: readonly MapPoint[]): readonly Ground[] =>
  placesOf(points, MOST_PLACES).map(({ name, outline }) => ({
    name,
    parts: [[outline.map(({ latitude, longitude }): Corner => [latitude, longitude])]],
  }));

/** Names stand in their outlines, or where there are too many, at the pointer. */
function drawGround(ground: readonly Ground[], line: string, layers: FeatureGroup): void {
  const isNamed = ground.length <= MOST_PLACES;
  const style = { color: line, weight: 1, fillColor: line, fillOpacity: 0.08, interactive: !isNamed };
  for (const { name, parts } of ground) {
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
  { points, ground, picked }: Pick<MapProps, 'points' | 'ground' | 'picked'>,
  colors: Colors,
  onPick: (id: string) => void,
): FeatureGroup {
  const layers = featureGroup();
  drawGround(ground.length === 0 ? around(points) : ground, colors.line, layers);
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
