/** What binding knows beside the filter, and where it notes faults. */
import { nearestOfEither } from '../../../dictionary/index.ts';
import { type Fault, FILTER, fault, shortened, typeFault } from '../faults.ts';
import type { FieldName } from '../syntax/nodes.ts';
import { customName, type NativeNames } from './names.ts';

/** Each suggestion walks over all names, so a filter of many faults gets them for its first ones only. */
const MOST_SUGGESTIONS = 10;

export interface BindContext {
  readonly names: NativeNames;
  /** The time of the request. */
  readonly now: Date;
  readonly faults: Fault[];
}

export function noteType(context: BindContext, reason: string, token: string, position: number): undefined {
  context.faults.push(typeFault(reason, token, position));
}

export function noteMissing(context: BindContext, what: string, token: string, position: number): undefined {
  context.faults.push(fault('notImplemented', { option: FILTER, what, position }, token));
}

export const writtenName = (name: FieldName): string =>
  name.kind === 'name' ? name.name : customName(name.group, name.label);

export function noteUnknown(context: BindContext, field: FieldName): undefined {
  const { names, faults } = context;
  const name = writtenName(field);
  const others = field.kind === 'name' ? names.names() : names.customNames();
  const suggests = faults.length < MOST_SUGGESTIONS;
  const nearest = suggests ? nearestOfEither(name, others, names.counterparts()) : undefined;
  const facts = {
    name: shortened(name),
    nearest,
    resource: names.collection,
    option: FILTER,
    position: field.position,
  };
  faults.push(fault('fieldUnknown', facts, name));
}
