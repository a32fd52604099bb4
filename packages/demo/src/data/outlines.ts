/**
 * The limits of the towns of the invented area, as a map draws them: neighbors share their borders, and those in the west end at
 * the shore of the lake. Every listing lies inside the limits of its city, and of no other.
 */
export type Corner = readonly [longitude: number, latitude: number];

/** By the name of the town; counterclockwise, as RFC 7946 wants it, without the first corner again at the end. */
export const OUTLINES: Readonly<Record<string, readonly Corner[]>> = {
  'Calder Bay': [
    [-86.23, 44.59],
    [-86.16, 44.59],
    [-86.16, 44.632],
    [-86.165, 44.64],
    [-86.165, 44.675],
    [-86.229, 44.675],
    [-86.233, 44.663],
    [-86.244, 44.656],
    [-86.243, 44.642],
    [-86.234, 44.636],
    [-86.238, 44.622],
    [-86.236, 44.606],
  ],
  'Port Ellery': [
    [-86.229, 44.675],
    [-86.165, 44.675],
    [-86.165, 44.705],
    [-86.15, 44.705],
    [-86.15, 44.745],
    [-86.228, 44.745],
    [-86.238, 44.728],
    [-86.236, 44.708],
    [-86.226, 44.695],
  ],
  Wexcombe: [
    [-86.16, 44.56],
    [-86.112, 44.56],
    [-86.112, 44.552],
    [-86.068, 44.552],
    [-86.068, 44.632],
    [-86.16, 44.632],
  ],
  Thornfield: [
    [-86.182, 44.512],
    [-86.17, 44.505],
    [-86.112, 44.505],
    [-86.112, 44.56],
    [-86.182, 44.56],
  ],
  'Hadley Falls': [
    [-86.068, 44.535],
    [-85.99, 44.535],
    [-85.99, 44.592],
    [-86.068, 44.592],
  ],
  'Sable Lake': [
    [-86.11, 44.705],
    [-86.025, 44.705],
    [-86.025, 44.76],
    [-86.06, 44.778],
    [-86.11, 44.778],
  ],
  Brannock: [
    [-86.165, 44.64],
    [-86.16, 44.632],
    [-86.095, 44.632],
    [-86.095, 44.705],
    [-86.165, 44.705],
  ],
  'Ashby Grove': [
    [-86.068, 44.592],
    [-86.005, 44.592],
    [-86.005, 44.655],
    [-86.03, 44.66],
    [-86.068, 44.66],
  ],
};
