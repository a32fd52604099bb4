/**
 * A drawing in a box, in which a person can zoom and move it by mouse, touch, keyboard and buttons. It is an `<img>`, so that
 * scripts of an SVG do not run and it loads nothing.
 */
import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import './drawing.css';
import { enlargement, moved, type Placement, type Size, wholeIn, zoomed } from './zoom.ts';

/** Pixels by which an arrow key or button moves the drawing. */
const STEP = 80;
const FACTOR = 1.5;

/** The direction in which a person looks; the drawing moves the opposite way. */
const MOVES = [
  { key: 'ArrowLeft', sign: '←', label: 'Move left', x: STEP, y: 0 },
  { key: 'ArrowUp', sign: '↑', label: 'Move up', x: 0, y: STEP },
  { key: 'ArrowDown', sign: '↓', label: 'Move down', x: 0, y: -STEP },
  { key: 'ArrowRight', sign: '→', label: 'Move right', x: -STEP, y: 0 },
] as const;

interface Point {
  readonly x: number;
  readonly y: number;
}

export interface DrawingProps {
  /** The address of a file on this origin. */
  readonly address: string;
  /** A description; any text. */
  readonly name: string;
}

type Area = RefObject<HTMLDivElement | null>;

/** Where the drawing is in its box, and how it is zoomed and moved. */
function usePlacement(area: Area) {
  const [box, setBox] = useState<Size>();
  const [picture, setPicture] = useState<Size>();
  /** Undefined: the whole drawing, fitted to the box. */
  const [placement, setPlacement] = useState<Placement>();
  useEffect(() => {
    const element = area.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => {
      setBox({ width: element.clientWidth, height: element.clientHeight });
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const known = box === undefined || picture === undefined ? undefined : { box, picture };
  const place = known && (placement ?? wholeIn(known.box, known.picture));
  const times = known === undefined || place === undefined ? 1 : enlargement(place, known.box, known.picture);
  return {
    ...{ picture, setPicture, place, times },
    isWhole: times < 1.001,
    showWhole: () => setPlacement(undefined),
    /** @param at the point that keeps its position; by default, the middle of the box */
    zoom(factor: number, at?: Point) {
      if (known === undefined) return;
      const { box: room, picture: size } = known;
      const middle = { x: room.width / 2, y: room.height / 2 };
      setPlacement((was) => {
        const next = zoomed(was ?? wholeIn(room, size), factor, at ?? middle, room, size);
        return enlargement(next, room, size) < 1.001 ? undefined : next;
      });
    },
    move(dx: number, dy: number) {
      if (known === undefined) return;
      const { box: room, picture: size } = known;
      setPlacement((was) => (was === undefined ? undefined : moved(was, dx, dy, room, size)));
    },
  };
}

type View = ReturnType<typeof usePlacement>;

/** What keys, the wheel, and one or two pointers do. */
function useGestures(area: Area, { isWhole, showWhole, zoom, move }: View) {
  const pointers = useRef(new Map<number, Point>());
  const pointOf = ({ clientX, clientY }: MouseEvent): Point => {
    const edge = area.current?.getBoundingClientRect();
    return { x: clientX - (edge?.left ?? 0), y: clientY - (edge?.top ?? 0) };
  };
  const onPointerEnd = (event: PointerEvent) => {
    pointers.current.delete(event.pointerId);
  };
  return {
    onKeyDown(event: KeyboardEvent) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === '+' || event.key === '=') zoom(FACTOR);
      else if (event.key === '-') zoom(1 / FACTOR);
      else if (event.key === '0' || event.key === 'Home') showWhole();
      else {
        const step = MOVES.find(({ key }) => key === event.key);
        if (step === undefined || isWhole) return;
        move(step.x, step.y);
      }
      event.preventDefault();
    },
    // The wheel scrolls the page until the drawing has the focus.
    onWheel(event: WheelEvent) {
      if (!event.ctrlKey && document.activeElement !== area.current) return;
      event.preventDefault();
      const pixels = event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1);
      zoom(Math.exp(-pixels / (event.ctrlKey ? 100 : 400)), pointOf(event));
    },
    onDblClick: (event: MouseEvent) => zoom(2, pointOf(event)),
    onPointerDown(event: PointerEvent) {
      if (event.button !== 0) return;
      area.current?.setPointerCapture(event.pointerId);
      pointers.current.set(event.pointerId, pointOf(event));
    },
    onPointerMove(event: PointerEvent) {
      const before = pointers.current.get(event.pointerId);
      if (before === undefined) return;
      const now = pointOf(event);
      const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1];
      pointers.current.set(event.pointerId, now);
      if (other === undefined) {
        move(now.x - before.x, now.y - before.y);
        return;
      }
      const apart = (point: Point) => Math.hypot(point.x - other.x, point.y - other.y);
      const middle = { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 };
      if (apart(before) > 0) zoom(apart(now) / apart(before), middle);
      move((now.x - before.x) / 2, (now.y - before.y) / 2);
    },
    ...{ onPointerUp: onPointerEnd, onPointerCancel: onPointerEnd, onLostPointerCapture: onPointerEnd },
  };
}

/** Use the address as `key`, so that another drawing starts unzoomed. */
export function Drawing({ address, name }: DrawingProps) {
  const frame = useRef<HTMLElement>(null);
  const area = useRef<HTMLDivElement>(null);
  const [isBroken, setBroken] = useState(false);
  const view = usePlacement(area);
  const gestures = useGestures(area, view);
  const { place, picture, isWhole } = view;
  const fill = () => {
    if (document.fullscreenElement === null) void frame.current?.requestFullscreen();
    else void document.exitFullscreen();
  };
  return (
    <figure class="drawing" ref={frame}>
      <Tools view={view} fill={fill} address={address} />
      <div
        class={isWhole ? 'drawing-area' : 'drawing-area is-larger'}
        ref={area}
        role="application"
        aria-roledescription="drawing"
        aria-label={`${name}: plus and minus zoom, arrow keys move, 0 shows the whole`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a person zooms and moves the drawing with keys, which takes the focus
        tabIndex={0}
        {...gestures}
      >
        {isBroken ? (
          <p class="problem">This file cannot be shown as a picture.</p>
        ) : (
          <img
            src={address}
            alt={name}
            draggable={false}
            onError={() => setBroken(true)}
            onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
              view.setPicture({ width: naturalWidth || 1000, height: naturalHeight || 700 })
            }
            style={
              place === undefined || picture === undefined
                ? { visibility: 'hidden' }
                : {
                    width: `${picture.width * place.scale}px`,
                    height: `${picture.height * place.scale}px`,
                    transform: `translate(${place.x}px, ${place.y}px)`,
                  }
            }
          />
        )}
      </div>
    </figure>
  );
}

interface ToolsProps {
  readonly view: View;
  /** Fills the screen with the drawing, or ends that. */
  readonly fill: () => void;
  readonly address: string;
}

const Tools = ({ view: { times, isWhole, zoom, move, showWhole }, fill, address }: ToolsProps) => (
  <fieldset class="drawing-tools">
    <legend class="visually-hidden">Zoom and move the drawing</legend>
    <button type="button" class="quiet" aria-label="Zoom in" onClick={() => zoom(FACTOR)}>
      +
    </button>
    <button
      type="button"
      class="quiet"
      aria-label="Zoom out"
      disabled={isWhole}
      onClick={() => zoom(1 / FACTOR)}
    >
      −
    </button>
    <output class="drawing-scale" aria-label="Zoom">
      {Math.round(times * 100)} %
    </output>
    <button type="button" class="quiet" disabled={isWhole} onClick={showWhole}>
      Whole
    </button>
    <span class="drawing-moves">
      {MOVES.map(({ key, sign, label, x, y }) => (
        <button
          type="button"
          class="quiet"
          key={key}
          aria-label={label}
          disabled={isWhole}
          onClick={() => move(x, y)}
        >
          {sign}
        </button>
      ))}
    </span>
    <button type="button" class="quiet" onClick={fill}>
      Full screen
    </button>
    <a href={address} target="_blank" rel="noreferrer noopener">
      Open the file<span class="visually-hidden"> (opens a new tab)</span>
    </a>
  </fieldset>
);
