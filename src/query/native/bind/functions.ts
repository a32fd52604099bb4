/** The functions of fields: what they take, and what they give. */
import type { FieldFunction } from '../syntax/nodes.ts';
import type { SideType } from './coerce.ts';

interface Rule {
  readonly takes: readonly SideType[];
  /** How messages call what it takes. */
  readonly needs: string;
  readonly gives: SideType;
}

const rule =
  (needs: string, ...takes: SideType[]) =>
  (gives: SideType): Rule => ({ takes, needs, gives });

const ofText = rule('a text', 'string');
const ofNumber = rule('a number', 'integer', 'decimal');
const ofDay = rule('a date or a timestamp', 'date', 'timestamp');
const ofMoment = rule('a timestamp', 'timestamp');

export const FIELD_FUNCTIONS: Readonly<Record<Exclude<FieldFunction, 'all' | 'cast'>, Rule>> = {
  tolower: ofText('string'),
  toupper: ofText('string'),
  trim: ofText('string'),
  length: ofText('integer'),
  substring: ofText('string'),
  indexof: ofText('integer'),
  concat: ofText('string'),
  round: ofNumber('integer'),
  ceiling: ofNumber('integer'),
  floor: ofNumber('integer'),
  date: ofDay('date'),
  time: ofMoment('time'),
  year: ofDay('integer'),
  month: ofDay('integer'),
  day: ofDay('integer'),
  hour: ofMoment('integer'),
  minute: ofMoment('integer'),
  second: ofMoment('integer'),
  fractionalseconds: ofMoment('decimal'),
  dayofyear: ofDay('integer'),
  dayofweek: ofDay('integer'),
};
