/**
 * How wide a text is in Helvetica, which Arial and Liberation Sans share to the unit. Drawings say the width with the text
 * (`textLength`), so that a label keeps its place in any other font. Knows nothing of plans.
 */

/** Thousandths of the font size, from the space on, in the order of ASCII (Adobe's metrics of Helvetica). */
const WIDTHS = [
  278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556,
  556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278,
  500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469,
  556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500,
  278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];
/** Of letters beyond ASCII: none of Helvetica's is wider. */
const WIDEST = 1015;
const SPACE = 32;

/** The width of a text of this font size. */
export function textWidth(text: string, size: number): number {
  let sum = 0;
  for (const letter of text) sum += WIDTHS[letter.charCodeAt(0) - SPACE] ?? WIDEST;
  return (sum * size) / 1000;
}

/** How far letters reach above and below the line that they stand on, as parts of the font size. */
export const ABOVE = 0.76;
export const BELOW = 0.22;
