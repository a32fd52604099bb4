/**
 * Serializes records for the transfer between threads. Values are lists in the order of a table of names, which takes a third of
 * the time of objects with members. As JSON in a buffer, they take no memory on the heap of V8 until they are needed.
 */
import type { FieldValue, Resource } from '../../dictionary/index.ts';
import { ListedRecord, type ParsedRecord, type Prepared } from '../../records/parsed-record.ts';
import { ListedValues, type Places } from '../../records/rows.ts';
import type { PreparedRecord } from '../../store/write/prepare.ts';
import type { AdjustmentCounts, ReadRecords } from './read-records.ts';

interface SentRecord {
  readonly key: string;
  /** The values, in the order of the names of the resource. */
  readonly values: (FieldValue | undefined)[];
  /** The hash of the record; absent if the record has a field that is not in use. */
  readonly hash?: string | undefined;
  /** The length of all texts of the record in bytes, and of each text in characters; absent for a child, or if there is no hash. */
  readonly texts?: { readonly bytes: number; readonly lengths: readonly number[] };
  /** The names of its counts, which the store derives. */
  readonly counts?: readonly string[];
  /** The children of the record: navigation, resource, records. */
  readonly children?: readonly (readonly [string, string, readonly SentRecord[]])[];
}

interface Sent extends AdjustmentCounts {
  /** The names of the values, by resource. */
  readonly names: Readonly<Record<string, readonly string[]>>;
  readonly results: readonly (SentRecord | string)[];
  /** The generation of the model with which the records were parsed. */
  readonly generation: number;
}

/**
 * Records as bytes: their values as JSON, and their texts one after the other, because JSON would have to escape all of the quotes
 * in them.
 */
export interface SentBytes {
  readonly records: Uint8Array<ArrayBuffer>;
  readonly texts: Uint8Array<ArrayBuffer>;
}

/** What is computed for records before they are written. */
interface Preparing {
  /** The record with its hash, if all of its fields are in use. */
  readonly prepare: (record: ParsedRecord) => PreparedRecord | undefined;
  /** The texts of a prepared record that contain nothing that the store sets. */
  readonly textsOf: (record: ParsedRecord) => readonly string[];
}

export function packRecords(
  { results, ...changed }: ReadRecords,
  generation: number,
  { prepare, textsOf }: Preparing,
): SentBytes {
  const places = new Map<string, Places>();
  const joined: string[] = [];
  let size = 0;
  const send = (record: ParsedRecord): SentRecord => {
    const prepared = prepare(record);
    const sent = packRecord(record, prepared, places);
    if (prepared === undefined) return sent;
    const texts = textsOf(record);
    const text = texts.join('');
    const bytes = Buffer.byteLength(text);
    joined.push(text);
    size += bytes;
    return { ...sent, texts: { bytes, lengths: texts.map(({ length }) => length) } };
  };
  const sent: Sent = {
    results: results.map((each) => (typeof each === 'string' ? each : send(each))),
    ...changed,
    generation,
    names: Object.fromEntries([...places].map(([resource, names]) => [resource, [...names.keys()]])),
  };
  const bytes = new Uint8Array(size);
  const texts = Buffer.from(bytes.buffer);
  let at = 0;
  for (const text of joined) at += texts.write(text, at);
  return { records: new TextEncoder().encode(JSON.stringify(sent)), texts: bytes };
}

function packRecord(
  { resource, key, values: given, children, dropped }: ParsedRecord,
  prepared: PreparedRecord | undefined,
  places: Map<string, Places>,
): SentRecord {
  const known = places.getOrInsertComputed(resource.name, () => new Map());
  const values: FieldValue[] = new Array(known.size).fill(null);
  for (const name in given) {
    let place = known.get(name);
    if (place === undefined) {
      place = known.size;
      known.set(name, place);
    }
    values[place] = given[name] ?? null;
  }
  const counts = dropped.filter(({ why }) => why === 'count').map(({ name }) => name);
  return {
    key,
    values,
    hash: prepared?.hash,
    ...(counts.length === 0 ? {} : { counts }),
    ...(children.size === 0
      ? {}
      : {
          children: [...children].map(([navigation, records]) => [
            navigation,
            resource.navigations.get(navigation)?.target ?? '',
            records.map((child, index) =>
              packRecord(child, prepared?.children.get(navigation)?.[index], places),
            ),
          ]),
        }),
  };
}

const NO_CHILDREN: ParsedRecord['children'] = new Map();
const NOTHING = [] as const;

/** @param resource returns the resource with a name */
export function unpackRecords(
  { records: bytes, texts: bytesOfTexts }: SentBytes,
  name: string,
  resource: (name: string) => Resource,
): ReadRecords {
  const { names, generation, results, ...changed }: Sent = JSON.parse(new TextDecoder().decode(bytes));
  const places = new Map(
    Object.entries(names).map(([of, list]) => [of, new Map(list.map((each, place) => [each, place]))]),
  );
  const texts = Buffer.from(bytesOfTexts.buffer);
  let at = 0;
  const preparedOf = ({ hash, texts: own }: SentRecord): Prepared | undefined => {
    if (hash === undefined) return undefined;
    if (own === undefined) return { hash, generation };
    const [begin, end] = [at, at + own.bytes];
    at = end;
    return {
      hash,
      generation,
      fixedTexts: () => splitByLengths(texts.toString('utf8', begin, end), own.lengths),
    };
  };
  const unpacked = (of: string, sent: SentRecord): ParsedRecord => {
    const children = sent.children?.map(
      ([navigation, target, records]) => [navigation, records.map((each) => unpacked(target, each))] as const,
    );
    const { key, values, counts = [] } = sent;
    const prepared = preparedOf(sent);
    return new ListedRecord({
      resource: resource(of),
      key,
      listed: new ListedValues(places.get(of) ?? new Map(), values),
      children: children === undefined ? NO_CHILDREN : new Map(children),
      dropped: counts.map((name) => ({ resource: of, name, value: undefined, why: 'count' })),
      lenient: NOTHING,
      refused: NOTHING,
      origin: undefined,
      ...(prepared === undefined ? {} : { prepared }),
    });
  };
  return {
    ...changed,
    results: results.map((each) => (typeof each === 'string' ? each : unpacked(name, each))),
  };
}

/** Splits a text into texts of these lengths. */
function splitByLengths(text: string, lengths: readonly number[]): string[] {
  let at = 0;
  return lengths.map((length) => {
    at += length;
    return text.slice(at - length, at);
  });
}
