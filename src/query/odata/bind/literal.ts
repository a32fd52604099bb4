import type { Literal, Point } from '../../tree.ts';
import type { Position, Shape } from '../syntax/geography.ts';
import type { LiteralText } from '../syntax/literal.ts';
import { shown } from '../syntax/source.ts';
import {
  type BoundValue,
  type Environment,
  mismatch,
  type Place,
  spendValue,
  unsupported,
} from './environment.ts';
import { canonicalDate, canonicalTime, canonicalTimestamp, durationSeconds } from './moment.ts';

/** WGS 84, degrees: what Latitude and Longitude are. */
const SRID = 4326;

/**
 * The value of a literal, in the canonical form of the tree.
 * @throws typeMismatch for a date that the calendar does not have, or a number or shape out of range;
 *   notImplemented for forms that no field has
 */
export function bindLiteral(env: Environment, place: Place, literal: LiteralText): BoundValue {
  spendValue(env, place, 'text' in literal ? literal.text.length : charactersOf(literal.shape));
  const written = 'text' in literal ? { written: literal.text } : {};
  const value = (expression: Literal): BoundValue => ({ kind: 'value', expression, ...written });
  switch (literal.form) {
    case 'null':
      return value({ kind: 'literal', type: 'null', value: null });
    case 'boolean':
      return value({ kind: 'literal', type: 'boolean', value: literal.text === 'true' });
    case 'integer':
    case 'decimal': {
      const number = Number(literal.text);
      if (!Number.isFinite(number))
        throw mismatch(env, place, `${shown(literal.text)} is too large a number`);
      // Adding zero turns -0 into 0, which is the same number in every comparison.
      return value({ kind: 'literal', type: literal.form, value: number + 0 });
    }
    case 'special':
      throw unsupported(env, place, `the number ${literal.text}`);
    case 'string':
    case 'enumeration':
      return value({ kind: 'literal', type: 'string', value: literal.text });
    case 'guid':
      throw mismatch(env, place, `no field here is a guid; write '${literal.text}' for a string`);
    case 'binary':
      throw unsupported(env, place, 'binary data');
    case 'date': {
      const date = canonicalDate(literal.text);
      if (date === undefined)
        throw mismatch(env, place, `${shown(literal.text)} is no day of the years 0 to 9999`);
      return value({ kind: 'literal', type: 'date', value: date });
    }
    case 'timestamp': {
      const timestamp = canonicalTimestamp(literal.text);
      if (timestamp === undefined) {
        throw mismatch(env, place, `${shown(literal.text)} is no moment of the years 0 to 9999`);
      }
      return value({ kind: 'literal', type: 'timestamp', value: timestamp });
    }
    case 'time':
      return value({ kind: 'literal', type: 'time', value: canonicalTime(literal.text) });
    case 'duration': {
      const seconds = durationSeconds(literal.text);
      if (!Number.isFinite(seconds))
        throw mismatch(env, place, `${shown(literal.text)} is too long a duration`);
      return value({ kind: 'literal', type: 'duration', value: seconds });
    }
    case 'geography':
    case 'geometry':
      return value(shape(env, place, literal));
  }
}

/** About as many as the positions of a shape were written with. */
const charactersOf = (read: Shape): number =>
  read.kind === 'polygon' ? 16 * read.rings.reduce((sum, ring) => sum + ring.length, 0) : 16;

function shape(
  env: Environment,
  place: Place,
  literal: LiteralText & { readonly form: 'geography' | 'geometry' },
): Literal {
  const { shape: read } = literal;
  if (literal.form === 'geometry') throw unsupported(env, place, 'a geometry (write geography)');
  if (read.srid !== undefined && read.srid !== SRID) {
    throw unsupported(env, place, `the reference system SRID=${read.srid} (write SRID=${SRID})`);
  }
  switch (read.kind) {
    case 'point':
      return { kind: 'literal', type: 'point', value: pointOf(env, place, read.position) };
    case 'polygon': {
      const [ring, hole] = read.rings;
      if (ring === undefined || hole !== undefined) throw unsupported(env, place, 'a polygon with holes');
      const points = ring.map((position) => pointOf(env, place, position));
      const [first, last] = [points[0], points.at(-1)];
      const closed = first?.longitude === last?.longitude && first?.latitude === last?.latitude;
      if (!closed || points.length < 4) {
        throw mismatch(env, place, 'a polygon has at least four points, and the last equals the first');
      }
      return { kind: 'literal', type: 'polygon', value: points };
    }
    case 'other':
      throw unsupported(env, place, `a ${read.name}`);
  }
}

function pointOf(env: Environment, place: Place, { longitude, latitude }: Position): Point {
  if (Math.abs(longitude) > 180 || Math.abs(latitude) > 90) {
    const reason = `the point ${longitude} ${latitude} is not on the globe: longitude comes first`;
    throw mismatch(env, place, reason);
  }
  return { longitude, latitude };
}

/** A date as the timestamp of its midnight in UTC. */
export const midnight = (date: string): Literal => ({
  kind: 'literal',
  type: 'timestamp',
  value: `${date}T00:00:00Z`,
});
