/** Counts the steps of an engine and makes one of them throw. */
import type { Steps } from './faults.ts';

/**
 * @param install puts `step` before every call of the driver. @returns objects whose functions are steps as well, such as
 * the dialect that the planner compiles with
 */
export function countedSteps(
  install: (step: () => void) => readonly object[],
): Pick<Steps, 'arm' | 'disarm'> {
  let left = Number.POSITIVE_INFINITY;
  let made: () => Error = () => new Error();
  const step = (): void => {
    if (--left === 0) throw made();
  };
  for (const object of install(step)) {
    for (const [name, value] of Object.entries(object)) {
      if (typeof value !== 'function') continue;
      const real: (...given: unknown[]) => unknown = value.bind(object);
      Object.defineProperty(object, name, {
        configurable: true,
        enumerable: true,
        writable: true,
        value: (...given: unknown[]) => {
          step();
          return real(...given);
        },
      });
    }
  }
  return {
    arm(at, error) {
      left = at;
      made = error;
    },
    disarm() {
      const hasCome = left <= 0;
      left = Number.POSITIVE_INFINITY;
      return hasCome;
    },
  };
}
