import type { Zone } from '../../plan/spaces.ts';

export const INK = '#2a2f38';
export const SOFT_INK = '#6b7280';
export const FURNITURE = '#b5b0a5';
export const GLASS = '#7da7c4';
export const PAPER = '#ffffff';

const FLOORS: Readonly<Record<Zone, string>> = {
  living: '#fbf7ee',
  hall: '#fbf7ee',
  entry: '#fbf7ee',
  stairs: '#f6f2e8',
  bedroom: '#f3f6fa',
  study: '#f4f7f1',
  service: '#f2f2ef',
  bath: '#e9f3f4',
  ensuite: '#e9f3f4',
  closet: '#f3f0ea',
};

export function floorColor(zone: Zone): string {
  return FLOORS[zone];
}

/** Wall thickness in feet: walls are drawn on the lines between spaces. */
export const OUTER_WALL = 0.52;
export const INNER_WALL = 0.32;
