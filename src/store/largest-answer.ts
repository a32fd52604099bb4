/**
 * Megabytes of the largest answer that a store makes. Expansions inside expansions multiply, and nobody would read what
 * comes of it; 1000 listings with all of their parts are 30.
 */
export const LARGEST_ANSWER = 256;
