import type { FieldValues } from '../../../src/dictionary/index.ts';
import type { RoleName } from './plan.ts';

/** What the key may see of a record at the source, told by rules of its own and not by the store's. */
export interface Shown {
  readonly resource: string;
  readonly key: string;
  readonly values: FieldValues;
  /** Milliseconds since 1970, on the source's clock. */
  readonly stamp: number;
  /** Since when the key has seen it without a break; undefined: it does not. */
  readonly since: number | undefined;
  /** It came into sight without a change of its own: no window tells of it. */
  readonly quietly: boolean;
}

const ON_MARKET: ReadonlySet<unknown> = new Set([
  'Active',
  'Active Under Contract',
  'Pending',
  'Coming Soon',
]);

/** @param day the UTC day, `YYYY-MM-DD` */
function isShown(role: RoleName, resource: string, values: FieldValues, day: string): boolean {
  if (role === 'private') return true;
  switch (resource) {
    case 'Member':
      return (values.MemberStatus ?? 'Active') === 'Active';
    case 'Office':
      return (values.OfficeStatus ?? 'Active') === 'Active';
    default: {
      if (values.InternetEntireListingDisplayYN === false) return false;
      if (ON_MARKET.has(values.StandardStatus)) return true;
      const limit = `${Number(day.slice(0, 4)) - 3}${day.slice(4)}`;
      return values.StandardStatus === 'Closed' && String(values.CloseDate ?? '') >= limit;
    }
  }
}

/** Everything that the source has, and whether the key sees it. */
export class ShownRecords {
  readonly #records = new Map<string, Shown>();
  #role: RoleName;
  #day = '';

  constructor(role: RoleName) {
    this.#role = role;
  }

  get role(): RoleName {
    return this.#role;
  }

  get(resource: string, key: string): Shown | undefined {
    return this.#records.get(`${resource} ${key}`);
  }

  of(resource: string): Shown[] {
    return [...this.#records.values()].filter((each) => each.resource === resource);
  }

  put(resource: string, key: string, values: FieldValues, now: number): void {
    const before = this.get(resource, key);
    const stamp = Date.parse(String(values.ModificationTimestamp));
    const shown = isShown(this.#role, resource, values, this.#day);
    const moved = before?.stamp !== stamp;
    this.#records.set(`${resource} ${key}`, {
      resource,
      key,
      values,
      stamp,
      since: shown ? (before?.since ?? now) : undefined,
      quietly: shown && !moved && (before?.since === undefined || before.quietly),
    });
  }

  remove(resource: string, key: string): void {
    this.#records.delete(`${resource} ${key}`);
  }

  /** The key has another role, or another day has begun. */
  judge(role: RoleName, now: number): void {
    const day = new Date(now).toISOString().slice(0, 10);
    if (role === this.#role && day === this.#day) return;
    this.#role = role;
    this.#day = day;
    for (const { resource, key, values } of [...this.#records.values()]) this.put(resource, key, values, now);
  }
}
