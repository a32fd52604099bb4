/**
 * Preloaded (`NODE_OPTIONS=--import=…`) into the processes of a test run that takes place at another time: `PLAT_TEST_DATE` is the moment
 * at which each test file begins, or `PLAT_TEST_DATE_OFFSET` says by how many milliseconds clocks are off. The processes
 * that a test starts share its clock. Durations stay real.
 */
const { PLAT_TEST_DATE, PLAT_TEST_DATE_OFFSET, NODE_TEST_CONTEXT } = process.env;

const RealDate = Date;

/** A Date that is off by as many milliseconds as it is told, wherever it looks at the clock. */
let offset = 0;
const shifted = () =>
  new Proxy(RealDate, {
    construct: (target, given, newTarget) =>
      Reflect.construct(target, given.length === 0 ? [RealDate.now() + offset] : given, newTarget),
    apply: () => new RealDate(RealDate.now() + offset).toString(),
    get: (target, name, receiver) =>
      name === 'now' ? () => RealDate.now() + offset : Reflect.get(target, name, receiver),
  });

/** Sets the clock of this process so many milliseconds off. */
export function setOff(milliseconds) {
  offset = milliseconds;
  if (Date === RealDate) globalThis.Date = shifted();
}

/** By how much this process is off: each file of a test run is when it begins, and the runner is not. */
function offsetOf() {
  if (PLAT_TEST_DATE_OFFSET !== undefined) return Number(PLAT_TEST_DATE_OFFSET);
  if (PLAT_TEST_DATE === undefined || NODE_TEST_CONTEXT === undefined) return undefined;
  return RealDate.parse(PLAT_TEST_DATE) - RealDate.now();
}

const own = offsetOf();
if (own !== undefined) {
  // For the processes that this one starts.
  process.env.PLAT_TEST_DATE_OFFSET = String(own);
  setOff(own);
}
