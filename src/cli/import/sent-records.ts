/**
 * The form in which records pass from one thread to another. Lists of values in the order of a table of names take a third
 * of the time of objects with members, and as JSON in a buffer they take no memory of V8 until they are needed.
 */
import type { FieldValue, FieldValues, Resource } from '../../dictionary/index.ts';
import { ListedValues } from '../../records/listed-values.ts';
import type { DroppedField, ParsedRecord, Prepared } from '../../records/parsed-record.ts';
import type { PreparedRecord } from '../../store/write/prepare.ts';
import type { Changed, ReadRecords } from './read-records.ts';

interface SentRecord {
  readonly key: string;
  /** In the order of the names of its resource. */
  readonly values: readonly (FieldValue | undefined)[];
  /** Its hash; absent if it has a field that is not in use. */
  readonly hash?: string | undefined;
  /** The counts that it names, which the store derives. */
  readonly counts?: readonly string[];
  /** Its children: navigation, resource, records. */
  readonly children?: readonly (readonly [string, string, readonly SentRecord[]])[];
}

interface Sent extends Changed {
  /** The names of the values, by resource. */
  readonly names: Readonly<Record<string, readonly string[]>>;
  readonly results: readonly (SentRecord | string)[];
  /** The generation of the model that the records were read by. */
  readonly generation: number;
}

/** The positions of the names of a resource's values, in the order in which they first occurred. */
type Places = Map<string, number>;

/** @param prepare the record with its hash, if all of its fields are in use */
export function pack(
  { results, ...changed }: ReadRecords,
  generation: number,
  prepare: (record: ParsedRecord) => PreparedRecord | undefined,
): Uint8Array<ArrayBuffer> {
  const places = new Map<string, Places>();
  const sent: Sent = {
    results: results.map((each) => (typeof each === 'string' ? each : packed(each, prepare(each), places))),
    ...changed,
    generation,
    names: Object.fromEntries([...places].map(([resource, names]) => [resource, [...names.keys()]])),
  };
  return new TextEncoder().encode(JSON.stringify(sent));
}

function packed(
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
            records.map((child, index) => packed(child, prepared?.children.get(navigation)?.[index], places)),
          ]),
        }),
  };
}

/** A record that another thread has read. */
class ListedRecord implements ParsedRecord {
  readonly lenient = [];
  readonly refused = [];
  readonly origin = undefined;
  readonly resource: Resource;
  readonly key: string;
  readonly listed: ListedValues;
  readonly children: ReadonlyMap<string, readonly ParsedRecord[]>;
  readonly dropped: readonly DroppedField[];
  readonly prepared?: Prepared;
  #values: FieldValues | undefined;

  constructor(
    resource: Resource,
    { key, values, hash, counts = [] }: SentRecord,
    places: Places,
    children: ReadonlyMap<string, readonly ParsedRecord[]>,
    generation: number,
  ) {
    this.resource = resource;
    this.key = key;
    this.listed = new ListedValues(places, values);
    this.children = children;
    this.dropped = counts.map((name) => ({ resource: resource.name, name, value: undefined, why: 'count' }));
    if (hash !== undefined) this.prepared = { hash, generation };
  }

  get values(): FieldValues {
    this.#values ??= this.listed.toObject();
    return this.#values;
  }
}

const NO_CHILDREN: ParsedRecord['children'] = new Map();

/** @param resource the resource with a name */
export function unpack(
  bytes: Uint8Array<ArrayBuffer>,
  name: string,
  resource: (name: string) => Resource,
): ReadRecords {
  const { names, generation, results, ...changed }: Sent = JSON.parse(new TextDecoder().decode(bytes));
  const places = new Map(
    Object.entries(names).map(([of, list]) => [of, new Map(list.map((each, place) => [each, place]))]),
  );
  const unpacked = (of: string, sent: SentRecord): ParsedRecord => {
    const children = sent.children?.map(
      ([navigation, target, records]) => [navigation, records.map((each) => unpacked(target, each))] as const,
    );
    return new ListedRecord(
      resource(of),
      sent,
      places.get(of) ?? new Map(),
      children === undefined ? NO_CHILDREN : new Map(children),
      generation,
    );
  };
  return {
    ...changed,
    results: results.map((each) => (typeof each === 'string' ? each : unpacked(name, each))),
  };
}
