/** The canonical functions and casts, as specified by OData 4.01 (URL conventions, 5.1.1.5 to 5.1.1.10). */
import type { CastName, FunctionName } from './term.ts';
import { indexOf, lengthOf, substringOf, trimmed } from './text.ts';
import {
  dateText,
  dayOf,
  FIRST_MOMENT,
  LAST_MOMENT,
  type Type,
  timeOf,
  timestampText,
  timeText,
  Unsure,
  type Value,
  wholeNumber,
} from './values.ts';

/** Half away from zero. */
export function rounded(number: number): number {
  const whole = Math.trunc(number);
  return Math.abs(number - whole) >= 0.5 ? whole + Math.sign(number) : whole;
}

const DAY = 86_400_000;

function dayOfYear(moment: number): number {
  const first = Date.parse(`${dateText(moment).slice(0, 4)}-01-01T00:00:00Z`);
  return (dayOf(moment) - first) / DAY + 1;
}

const text = (value: Value | undefined): string => {
  if (typeof value === 'string') return value;
  throw new Error(`${value} is no text`);
};
const number = (value: Value | undefined): number => {
  if (typeof value === 'number') return value;
  throw new Error(`${value} is no number`);
};

/** A function of null is null. */
export function callFunction(name: FunctionName, given: readonly Value[], now: number): Value {
  if (given.includes(null)) return null;
  const [first, second, third] = given;
  switch (name) {
    case 'contains':
      return indexOf(text(first), text(second)) >= 0;
    case 'startswith':
      return substringOf(text(first), 0, lengthOf(text(second))) === second;
    case 'endswith': {
      const start = lengthOf(text(first)) - lengthOf(text(second));
      return start >= 0 && substringOf(text(first), start, undefined) === second;
    }
    case 'length':
      return lengthOf(text(first));
    case 'indexof':
      return indexOf(text(first), text(second));
    case 'substring':
      return substringOf(text(first), number(second), third === undefined ? undefined : number(third));
    case 'tolower':
      return text(first).toLowerCase();
    case 'toupper':
      return text(first).toUpperCase();
    case 'trim':
      return trimmed(text(first));
    case 'concat':
      return text(first) + text(second);
    case 'year':
      return new Date(number(first)).getUTCFullYear();
    case 'month':
      return new Date(number(first)).getUTCMonth() + 1;
    case 'day':
      return new Date(number(first)).getUTCDate();
    case 'dayofyear':
      return dayOfYear(number(first));
    case 'dayofweek':
      return new Date(number(first)).getUTCDay();
    case 'hour':
      return new Date(number(first)).getUTCHours();
    case 'minute':
      return new Date(number(first)).getUTCMinutes();
    case 'second':
      return new Date(number(first)).getUTCSeconds();
    case 'fractionalseconds':
      return new Date(number(first)).getUTCMilliseconds() / 1000;
    case 'date':
      return dayOf(number(first));
    case 'time':
      return timeOf(number(first));
    case 'totaloffsetminutes':
      return 0;
    case 'totalseconds':
      return number(first) / 1000;
    case 'now':
      return now;
    case 'mindatetime':
      return FIRST_MOMENT;
    case 'maxdatetime':
      return LAST_MOMENT;
    case 'round':
      return rounded(number(first));
    case 'floor':
      return Math.floor(number(first));
    case 'ceiling':
      return Math.ceil(number(first));
  }
}

const RANGES: Readonly<Partial<Record<CastName, readonly [number, number]>>> = {
  'Edm.Byte': [0, 255],
  'Edm.SByte': [-128, 127],
  'Edm.Int16': [-32_768, 32_767],
  'Edm.Int32': [-2_147_483_648, 2_147_483_647],
};

function fitting(to: CastName, value: number): Value {
  const range = RANGES[to];
  if (range === undefined) return wholeNumber(value);
  return value >= range[0] && value <= range[1] ? value : null;
}

const INTEGER = /^[+-]?\d+$/;
const NUMBER = /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const DATE = /^\d{4}-\d\d-\d\d$/;
const TIME = /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,3})?)?$/;
const TIMESTAMP =
  /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,3})?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)?$/;
const DURATION = /^(-)?P(?=\d|T)(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;

function isDay(given: string): boolean {
  const moment = Date.parse(`${given}T00:00:00Z`);
  return !Number.isNaN(moment) && dateText(moment) === given;
}

/** The value of a text that is a literal of the type; null if it is not. */
function fromText(to: CastName, type: Type, given: string): Value {
  switch (type) {
    case 'integer':
      return INTEGER.test(given) ? fitting(to, Number(given)) : null;
    case 'decimal':
      return NUMBER.test(given) && Number.isFinite(Number(given)) ? Number(given) : null;
    case 'boolean':
      return given === 'true' ? true : given === 'false' ? false : null;
    case 'date':
      return DATE.test(given) && isDay(given) ? Date.parse(`${given}T00:00:00Z`) : null;
    case 'time':
      return TIME.test(given) ? Date.parse(`1970-01-01T${given}Z`) : null;
    case 'timestamp': {
      const [found, day = '', , , , zone] = TIMESTAMP.exec(given) ?? [];
      if (found === undefined || !isDay(day)) return null;
      return Date.parse(zone === undefined ? `${given}Z` : given);
    }
    case 'duration': {
      const [found, sign, days = '0', hours = '0', minutes = '0', seconds = '0'] = DURATION.exec(given) ?? [];
      if (found === undefined) return null;
      const total =
        Number(days) * DAY + Number(hours) * 3_600_000 + Number(minutes) * 60_000 + Number(seconds) * 1000;
      return sign === undefined ? total : -total;
    }
    case 'string':
      return given;
    case 'null':
      return null;
  }
}

/** The literal in the form of payloads. */
function toText(from: Type, value: Value): string {
  switch (from) {
    case 'date':
      return dateText(number(value));
    case 'timestamp':
      return timestampText(number(value));
    case 'time':
      return timeText(number(value));
    case 'duration':
      throw new Unsure('durations have many texts');
    default:
      return String(value);
  }
}

/** The value in another type; null if there is none. Numbers lose their fraction; OData leaves the rounding open. */
export function castValue(to: CastName, type: Type, from: Type, value: Value): Value {
  if (value === null) return null;
  if (from === 'string') return fromText(to, type, text(value));
  switch (type) {
    case 'string':
      return toText(from, value);
    case 'integer':
      return fitting(to, Math.trunc(number(value)));
    case 'date':
      return dayOf(number(value));
    case 'time':
      return from === 'time' ? value : timeOf(number(value));
    default:
      return value;
  }
}
