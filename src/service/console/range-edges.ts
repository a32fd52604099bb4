/** Chooses suitable edges for the ranges of a histogram. This module knows only numbers. */
import type { Histogram } from '../../compile/read.ts';

/** Three edges in each power of ten; few fields have values outside of them. */
export const ROUGH_EDGES: readonly number[] = Array.from({ length: 11 }, (_, power) => power - 1).flatMap(
  (power) => [1, 2, 5].map((digit) => Number(`${digit}e${power}`)),
);

/** The share of the values at either end that may lie beyond the edges. */
const BEYOND = 0.02;
const RANGES = 14;

/**
 * About a dozen ranges of equal, round width that contain nearly all values, so that a few outliers do not compress all other
 * values into one range.
 * @param rough the distribution of the values between `ROUGH_EDGES`
 */
export function rangeEdges({ records, least, greatest }: Histogram, isWhole: boolean): readonly number[] {
  if (least === null || greatest === null) return [];
  const most = records.reduce((sum, each) => sum + each, 0) * BEYOND;
  const first = edgeBeyond(records, most);
  const last = records.length - 1 - edgeBeyond(records.toReversed(), most);
  // The range at an index ends at the edge with that index, and begins at the previous edge.
  const from = Math.max(least, ROUGH_EDGES[first - 1] ?? least);
  const to = Math.min(greatest, ROUGH_EDGES[last] ?? greatest);
  const width = roundWidth((to - from) / RANGES, isWhole);
  const start = Math.floor(from / width);
  const end = Math.max(Math.ceil(to / width), start + 1);
  return Array.from({ length: end - start + 1 }, (_, index) => cleaned((start + index) * width));
}

/** The first index at which the sum of the counts exceeds `most`. */
function edgeBeyond(records: readonly number[], most: number): number {
  let passed = 0;
  const place = records.findIndex((each) => {
    passed += each;
    return passed > most;
  });
  return Math.max(place, 0);
}

const ROUND = [1, 1.5, 2, 2.5, 3, 4, 5, 7.5, 10] as const;

/** The next round number times a power of ten. */
function roundWidth(least: number, isWhole: boolean): number {
  if (least <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(least));
  const width = ROUND.map((digit) => digit * power).find((each) => each >= least * 0.999) ?? least;
  return isWhole ? Math.max(1, Math.ceil(width)) : width;
}

/** Removes the rounding error that multiplication adds to a decimal fraction. */
const cleaned = (edge: number): number => Number(edge.toPrecision(12));
