/** Numbers of a drawing need no more than a tenth of a unit. */
function round(value: number): string {
  return (Math.round(value * 10) / 10).toString();
}

const LONG_NUMBER = /-?\d+(?:\.\d{2,}(?:e-\d+)?|e-\d+)/g;

/** Attributes whose text is made of numbers. */
const GEOMETRY = new Set(['d', 'points', 'transform']);

/** The numbers of a path, a list of points or a transformation, rounded alike. */
function roundAll(text: string): string {
  return text.replace(LONG_NUMBER, (number) => round(Number(number)));
}

export function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Attributes as they stand in a tag; numbers are rounded. */
export type Attributes = Readonly<Record<string, string | number>>;

export function attributes(of: Attributes): string {
  let text = '';
  for (const name in of) {
    const value = of[name];
    if (value === undefined) continue;
    text += ` ${name}="${typeof value === 'number' ? round(value) : escapeXml(GEOMETRY.has(name) ? roundAll(value) : value)}"`;
  }
  return text;
}

export function rect(x: number, y: number, width: number, height: number, more: Attributes = {}): string {
  return `<rect${attributes({ x, y, width, height, ...more })}/>`;
}

export function circle(cx: number, cy: number, r: number, more: Attributes = {}): string {
  return `<circle${attributes({ cx, cy, r, ...more })}/>`;
}

export function ellipse(cx: number, cy: number, rx: number, ry: number, more: Attributes = {}): string {
  return `<ellipse${attributes({ cx, cy, rx, ry, ...more })}/>`;
}

export function path(d: string, more: Attributes = {}): string {
  return `<path${attributes({ d, ...more })}/>`;
}

export function text(x: number, y: number, content: string, more: Attributes = {}): string {
  return `<text${attributes({ x, y, ...more })}>${escapeXml(content)}</text>`;
}

export function group(content: readonly string[], more: Attributes = {}): string {
  return `<g${attributes(more)}>${content.join('')}</g>`;
}

/** A closed polygon through points given as x, y, x, y, … */
export function polygon(points: readonly number[], more: Attributes = {}): string {
  return `<polygon${attributes({ points: points.join(' '), ...more })}/>`;
}

/** A whole drawing. @param left what is cut off at the left; as much as is cut off at the right */
export function document(width: number, height: number, content: readonly string[], left = 0): string {
  const shown = round(width - 2 * left);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${round(left)} 0 ${shown} ${height}" width="${shown}" height="${height}">${content.join('')}</svg>`;
}
