import { isDeepStrictEqual } from 'node:util';
import type { FieldValues } from '../../../src/dictionary/index.ts';
import type { RoleName } from './plan.ts';

/** What the key may see of a record at the source, determined by the test's own rules and not by the store's. */
export interface Shown {
  readonly resource: string;
  readonly key: string;
  readonly values: FieldValues;
  /** Milliseconds since 1970, on the source's clock. */
  readonly stamp: number;
  /** Since when the key has seen it without interruption; undefined: it does not see it. */
  readonly since: number | undefined;
  /** It became visible without a change of its own, so that no window contains it. */
  readonly quietly: boolean;
}

const ON_MARKET: ReadonlySet<unknown> = new Set([
  'Active',
  'Active Under Contract',
  'Pending',
  'Coming Soon',
]);

/** What visibility depends on besides the record itself. */
export interface Rules {
  readonly role: RoleName;
  /** The UTC day, `YYYY-MM-DD`, by the source's clock. */
  readonly day: string;
  /** Whether the operator lets the idx role see withdrawn listings. */
  readonly showsWithdrawn: boolean;
}

function isShown({ role, day, showsWithdrawn }: Rules, resource: string, values: FieldValues): boolean {
  if (role === 'private') return true;
  switch (resource) {
    case 'Member':
      return (values.MemberStatus ?? 'Active') === 'Active';
    case 'Office':
      return (values.OfficeStatus ?? 'Active') === 'Active';
    default: {
      if (values.InternetEntireListingDisplayYN === false) return false;
      if (ON_MARKET.has(values.StandardStatus)) return true;
      if (values.StandardStatus === 'Withdrawn') return showsWithdrawn;
      const limit = `${Number(day.slice(0, 4)) - 3}${day.slice(4)}`;
      return values.StandardStatus === 'Closed' && String(values.CloseDate ?? '') >= limit;
    }
  }
}

/** All records of the source, and whether the key sees them. */
export class ShownRecords {
  readonly #records = new Map<string, Shown>();
  #rules: Rules;

  constructor(role: RoleName) {
    this.#rules = { role, day: '', showsWithdrawn: false };
  }

  get role(): RoleName {
    return this.#rules.role;
  }

  get showsWithdrawn(): boolean {
    return this.#rules.showsWithdrawn;
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
    const shown = isShown(this.#rules, resource, values);
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

  /** The source's clock was set back: what the key sees now counts as seen before any later moment. */
  turnBack(now: number): void {
    for (const [name, shown] of this.#records) {
      if (shown.since !== undefined) this.#records.set(name, { ...shown, since: Math.min(shown.since, now) });
    }
  }

  /** @returns a function that restores this state, with the role that the key has then */
  keep(): (now: number) => void {
    const records = new Map(this.#records);
    const { showsWithdrawn } = this.#rules;
    return (now) => {
      const before = new Map(this.#records);
      this.#rules = { ...this.#rules, showsWithdrawn };
      this.#records.clear();
      for (const [name, { resource, key, values }] of records) {
        this.put(resource, key, values, now);
        const [is, was] = [this.#records.get(name), before.get(name)];
        if (is?.since !== undefined && was?.since !== undefined)
          this.#records.set(name, { ...is, since: was.since, quietly: was.quietly });
      }
    };
  }

  remove(resource: string, key: string): void {
    this.#records.delete(`${resource} ${key}`);
  }

  /** Evaluates visibility again, after a change of the rules or of the day. */
  applyRules(change: Partial<Rules>, now: number): void {
    const rules = { ...this.#rules, ...change };
    if (isDeepStrictEqual(rules, this.#rules)) return;
    this.#rules = rules;
    for (const { resource, key, values } of [...this.#records.values()]) this.put(resource, key, values, now);
  }
}
