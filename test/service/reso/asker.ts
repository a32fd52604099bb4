/** Sends requests of one key to the RESO interface of a surface, and checks and unpacks the responses. */
import assert from 'node:assert/strict';
import type { SurfaceName } from '../../../src/service/surface.ts';
import type { Answer, AskOptions, TestService } from '../../support/service.ts';
import type { Json } from '../../support/world.ts';
import { objectIn } from '../http/envelopes.ts';

/** A page of a collection. */
export interface Page {
  readonly rows: readonly Json[];
  readonly context: string;
  readonly count?: number;
  readonly next?: string;
  readonly answer: Answer;
}

export interface Asker {
  /** URL of the service root, with a slash at the end. */
  readonly root: string;
  /** The response, whatever its status. @param path below the service root, or an absolute URL */
  get(path: string, options?: AskOptions): Promise<Answer>;
  page(path: string, headers?: AskOptions['headers']): Promise<Page>;
  /** The keys of a page, whose records must contain the key of their resource. */
  keys(path: string, headers?: AskOptions['headers']): Promise<string[]>;
  /** One record, without its context URL. */
  record(path: string, headers?: AskOptions['headers']): Promise<Json>;
  /** The keys of each page, following the next links. */
  walk(path: string, headers?: AskOptions['headers']): Promise<string[][]>;
  /** Status, code and message of the expected error. */
  error(path: string, headers?: AskOptions['headers']): Promise<[number, string, string]>;
}

const ROOTS: Partial<Record<SurfaceName, string>> = { floorplans: '/Reso/' };

export function asker(service: TestService, surface: SurfaceName, token: string): Asker {
  const root = ROOTS[surface] ?? '/Reso/OData/';
  const get = (path: string, options: AskOptions = {}): Promise<Answer> =>
    service.get(surface, path.startsWith('http') ? path : `${root}${path}`, { token, ...options });

  async function page(path: string, headers: AskOptions['headers'] = {}): Promise<Page> {
    const answer = await get(path, { headers });
    assert.equal(answer.status, 200, answer.text);
    const { value, '@odata.context': context, '@odata.count': count, '@odata.nextLink': next } = answer.json;
    assert.ok(Array.isArray(value), answer.text);
    const rows = value.map((row: unknown): Json => objectIn(row));
    return {
      rows,
      context: String(context),
      ...(typeof count === 'number' ? { count } : {}),
      ...(typeof next === 'string' ? { next } : {}),
      answer,
    };
  }

  const keys: Asker['keys'] = async (path, headers) => (await page(path, headers)).rows.map(keyOf);

  return {
    root: `${service.addresses[surface]}${root}`,
    get,
    page,
    keys,
    async record(path, headers = {}) {
      const answer = await get(path, { headers });
      assert.equal(answer.status, 200, answer.text);
      const { '@odata.context': _, ...record } = answer.json;
      return record;
    },
    async walk(path, headers) {
      const pages: string[][] = [];
      for (let next: string | undefined = path; next !== undefined; ) {
        const found: Page = await page(next, headers);
        pages.push(found.rows.map(keyOf));
        next = found.next;
        assert.ok(pages.length < 1000, 'the walk ends');
      }
      return pages;
    },
    async error(path, headers = {}) {
      const answer = await get(path, { headers });
      const error = objectIn(answer.json.error);
      return [answer.status, String(error.code), String(error.message)];
    },
  };
}

const KEY_NAMES = ['ListingKey', 'MediaKey', 'MemberKey', 'OfficeKey', 'LookupKey', 'FieldKey'];
const PART_KEYS = ['RoomKey', 'UnitTypeKey', 'OpenHouseKey'];

/** The key of a record. Records of sub-resources contain the key of their listing, too. */
function keyOf(record: Json): string {
  const name = [...PART_KEYS, ...KEY_NAMES].find((each) => each in record);
  assert.ok(name, `no key in ${JSON.stringify(record)}`);
  return String(record[name]);
}
