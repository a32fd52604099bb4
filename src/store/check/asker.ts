import type { Planner } from '../../compile/context.ts';
import type { PlannedStatement } from '../../compile/page-plan.ts';
import type { Field, FieldValue } from '../../dictionary/index.ts';

/** A connection of an engine, as far as a check asks it: `T` is a value as its driver gives it. */
export interface Asker<T> {
  readonly planner: Planner;
  readonly decode: (field: Field, raw: T | undefined) => FieldValue;
  rows(statement: PlannedStatement): Promise<readonly Readonly<Record<string, T>>[]>;
  /** The same for a statement that may meet what no writer stores; undefined where the engine failed at that. */
  sound(statement: PlannedStatement): Promise<readonly Readonly<Record<string, T>>[] | undefined>;
}
