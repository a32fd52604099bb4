/**
 * The number of runs of a property, or of similar cases: a tenth in `npm test`, all with `PLAT_FULL=1`.
 * @param all the number in `npm run test:full`
 */
export const runsOf = (all: number): number => (process.env.PLAT_FULL === '1' ? all : Math.ceil(all / 10));
