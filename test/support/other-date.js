/**
 * Preloaded (`--import`) into the processes of a test run that takes place at another time: `PLAT_TEST_DATE` is the moment
 * at which each test file begins; the processes that a test starts share its clock. Durations stay real.
 */
const { PLAT_TEST_DATE, PLAT_TEST_DATE_OFFSET, NODE_TEST_CONTEXT } = process.env;

const RealDate = Date;

/** A Date that is off by so many milliseconds wherever it looks at the clock. */
function shifted(offset) {
  return new Proxy(RealDate, {
    construct: (target, given, newTarget) =>
      Reflect.construct(target, given.length === 0 ? [RealDate.now() + offset] : given, newTarget),
    apply: () => new RealDate(RealDate.now() + offset).toString(),
    get: (target, name, receiver) =>
      name === 'now' ? () => RealDate.now() + offset : Reflect.get(target, name, receiver),
  });
}

// The runner itself is at no other time: each of its files begins anew.
const isTest = NODE_TEST_CONTEXT !== undefined || PLAT_TEST_DATE_OFFSET !== undefined;
if (PLAT_TEST_DATE !== undefined && isTest) {
  const offset = Number(PLAT_TEST_DATE_OFFSET ?? RealDate.parse(PLAT_TEST_DATE) - RealDate.now());
  process.env.PLAT_TEST_DATE_OFFSET = String(offset);
  globalThis.Date = shifted(offset);
}
