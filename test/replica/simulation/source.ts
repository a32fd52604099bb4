import assert from 'node:assert/strict';
import { makeRandom, type Random } from 'plat-demo';
import { dayFrom } from '../../../src/dictionary/index.ts';
import { PlatError } from '../../../src/errors/index.ts';
import { parseRecord } from '../../../src/records/parse-record.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Json } from '../../support/world.ts';
import {
  COLLECTION_NAMES,
  COLLECTIONS,
  described,
  drawChild,
  drawDisplay,
  drawFacts,
  drawMember,
  drawOffice,
  drawStatus,
  KEY_FIELDS,
  listingKeys,
  memberKeys,
  nextFields,
  officeKeys,
} from './market.ts';
import type { Plan } from './plan.ts';
import { type Rules, ShownRecords } from './shown.ts';
import type { SourceMachine } from './source-machine.ts';
import type { VirtualTime } from './time.ts';

export interface SourceOptions {
  readonly processes: Processes;
  readonly machine: SourceMachine;
  readonly random: Random;
  readonly time: VirtualTime;
  readonly plan: Pick<Plan, 'seed' | 'role' | 'often' | 'wrongClock'>;
  readonly log: (line: string) => void;
}

/** The processes of the source. */
export interface Processes {
  /** The store of the process that serves. */
  readonly served: () => Store;
  /** Another process serves from now on. */
  readonly serveAnew: () => Promise<void>;
  /** A process that imports. @param allowsJump whether it accepts its clock, however far it was set */
  readonly importer: (allowsJump: boolean) => Promise<Store>;
}

/** Kinds of changes with their relative frequency. */
export const CHANGES = [
  ['insert', 5],
  ['change', 8],
  ['status', 4],
  ['display', 2],
  ['children', 6],
  ['photo', 3],
  ['same', 2],
  ['batch', 2],
  ['delete', 3],
  ['member', 3],
  ['office', 2],
  ['no-member', 1],
  ['role', 0.7],
  ['rule', 1.5],
  ['field', 0.4],
] as const;
export type Change = (typeof CHANGES)[number][0];

/** The end of the list of statuses in the idx role's rule. */
const ON_MARKET = "'Coming Soon'";

/** A longer time than anybody waits for the clock to reach a timestamp. Milliseconds. */
const LONG = 24 * 3_600_000;

/** The market at the source, and the changes to it. */
export class Source {
  readonly shown: ShownRecords;
  /** Milliseconds since 1970 at which the key's role was last changed. */
  roleSince = Number.NEGATIVE_INFINITY;
  /** The epoch since it was last restored from a backup, or its timestamps were restamped. */
  epoch: string | undefined;
  /** Whether a restore or a restamp is in progress. */
  isGoingBack = false;
  /** Called when something may have changed. */
  onChange: () => void = () => undefined;
  /** Whether a change of the key's role can be noticed by a consumer. */
  mayChangeRole: () => boolean = () => true;
  readonly #options: SourceOptions;
  /** Listings as they were imported, with their children. */
  readonly #listings = new Map<string, Json>();
  #children = 0;
  #importer: Store | undefined;
  /** Random decisions of the operator about a clock. */
  readonly #operator: Random;
  /** How far the clock was ahead when the operator last looked. */
  #ahead = 0;

  constructor(options: SourceOptions) {
    this.#options = options;
    this.shown = new ShownRecords(options.plan.role);
    this.#operator = makeRandom(options.plan.seed, 'operator');
  }

  /** Creates the market at the beginning. */
  async fill(listings: number): Promise<void> {
    const { random } = this.#options;
    await this.lookAtClock();
    for (let count = 0; count < 4; count++) await this.happen('member');
    for (let count = 0; count < 2; count++) await this.happen('office');
    const keys = Array.from({ length: listings }, () => listingKeys(random));
    await this.#put([...new Set(keys)].map((key) => this.#drawListing(key)));
  }

  /** Makes one change. */
  async change(): Promise<void> {
    const { random, plan } = this.#options;
    const any = random.weighted(CHANGES);
    const change = plan.often !== undefined && random.chance(0.4) ? plan.often : any;
    await this.#meetClock();
    await this.#unlessRefused(() => this.happen(change));
  }

  /** Repairs everything: afterwards no timestamp is ahead of a clock that is right. */
  async settle(): Promise<void> {
    const { time, machine, processes, plan } = this.#options;
    const { wrongClock } = plan;
    if (wrongClock === undefined) return;
    await time.sleep(machine.untilRight());
    // A clock that was behind and is now right looks like one that was set ahead, until an import accepts it.
    if ((await processes.served().clockJump()) > 0) {
      await this.#next(true);
      await this.happen('member');
    }
    if (wrongClock.mends === 'waits') {
      const ahead = await processes.served().ahead();
      if (ahead !== undefined && ahead.milliseconds < LONG) await time.sleep(ahead.milliseconds);
    }
    await this.#mend();
    assert.equal(await processes.served().ahead(), undefined);
    assert.equal(await processes.served().clockJump(), 0);
  }

  /** The operator notices now and then that the clock was set. */
  async #meetClock(): Promise<void> {
    const { machine, processes, plan, log } = this.#options;
    const random = this.#operator;
    if (plan.wrongClock === undefined) return;
    const ahead = machine.ahead();
    if (ahead !== this.#ahead) {
      log(`source: the clock is ${ahead} ms ahead now`);
      this.#ahead = ahead;
      if (random.chance(0.5)) await this.#next(false);
      if (random.chance(0.3)) await processes.serveAnew();
    }
    const { mends } = plan.wrongClock;
    const isDue = mends === 'hastily' || (mends === 'restamp' && ahead === 0 && random.chance(0.4));
    if (isDue) await this.#mend();
  }

  /** @param allowsJump whether the process that imports from now on accepts its clock */
  async #next(allowsJump: boolean): Promise<void> {
    const { processes, log } = this.#options;
    this.#importer = await processes.importer(allowsJump);
    if (allowsJump) log('source: the clock is accepted');
  }

  async #writer(): Promise<Store> {
    this.#importer ??= await this.#options.processes.importer(false);
    return this.#importer;
  }

  /** Writes under a clock that was set ahead are rejected until the operator confirms the clock. */
  async #unlessRefused(work: () => Promise<void>): Promise<void> {
    const { machine, plan, log } = this.#options;
    for (const isLast of [false, true]) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof PlatError) || !/^clock(Jumped|SetBack)$/.test(error.code)) throw error;
        log(`source: refused: ${error.message}`);
        if (isLast || !(machine.ahead() === 0 || plan.wrongClock?.isBelieved === true)) return;
        await this.#next(true);
      }
    }
  }

  /** Restamps timestamps that are ahead of the clock, while the store is served. */
  async #mend(): Promise<void> {
    const { log } = this.#options;
    await this.#unlessRefused(async () => {
      const writer = await this.#writer();
      if ((await writer.ahead()) === undefined) return;
      this.isGoingBack = true;
      try {
        const { epoch } = await writer.restamp();
        log('source: restamped');
        this.epoch = epoch ?? this.epoch;
      } finally {
        await this.#lookAgain();
        this.isGoingBack = false;
      }
    });
  }

  /** Reads timestamps that have changed. */
  async #lookAgain(): Promise<void> {
    const { now } = await this.#moment();
    this.shown.turnBack(now);
    for (const resource of Object.keys(KEY_FIELDS)) {
      await this.#look(
        resource,
        this.shown.of(resource).map(({ key }) => key),
      );
    }
  }

  /** Whether the key sees a child of a listing. */
  showsChild(listing: string, collection: string, key: string): boolean {
    const name = COLLECTION_NAMES.find((each) => each === collection);
    if (name === undefined || this.shown.get('Property', listing)?.since === undefined) return false;
    const child = this.#childrenOf(listing, name).find((each) => each[COLLECTIONS[name]] === key);
    const hidden = this.shown.role === 'idx' && String(child?.Permission) === 'Private';
    return child !== undefined && !hidden;
  }

  /** @returns a function that restores the market to this moment */
  keep(): () => Promise<void> {
    const listings = new Map(this.#listings);
    const shown = this.shown.keep();
    return async () => {
      this.#listings.clear();
      for (const [key, listing] of listings) this.#listings.set(key, listing);
      const { now } = await this.#moment();
      shown(now);
      this.shown.turnBack(now);
      await this.#applyRules();
    };
  }

  /** Evaluates visibility by the current day, which also changes while nothing else does. */
  async lookAtClock(): Promise<void> {
    await this.#applyRules();
  }

  async happen(change: Change): Promise<void> {
    try {
      await this.#happen(change);
    } finally {
      this.onChange();
    }
  }

  async #happen(change: Change): Promise<void> {
    const { random, log } = this.#options;
    const key = this.#someListing();
    const listing = this.#listings.get(key) ?? { ListingKey: key };
    log(`source: ${change}`);
    switch (change) {
      case 'insert':
        return this.#put([this.#drawListing(listingKeys(random))]);
      case 'change':
        return this.#put([this.#without(listing, drawFacts(random))]);
      case 'status':
        return this.#put([{ ...listing, CloseDate: null, ...drawStatus(random) }]);
      case 'display':
        return this.#put([{ ...listing, ...drawDisplay(random) }]);
      case 'children':
        return this.#put([{ ...listing, ...this.#drawChildren(key) }]);
      case 'photo':
        return this.#onePhoto(key);
      case 'same':
        return this.#put([listing]);
      case 'batch':
        return this.#put(
          [...this.#listings.values()]
            .filter(() => random.chance(0.3))
            .map((each) => ({ ...each, ListPrice: random.integer(1, 9) })),
        );
      case 'delete':
        return this.#remove('Property', key);
      case 'member':
        return this.#putAccount('Member', drawMember(random, memberKeys(random)));
      case 'office':
        return this.#putAccount('Office', drawOffice(random, officeKeys(random)));
      case 'no-member':
        return this.#remove('Member', memberKeys(random));
      case 'role':
        return this.#changeRole();
      case 'rule':
        return this.#changeRule();
      case 'field':
        await (await this.#writer()).configure((settings) => {
          const customFields = nextFields(settings.declarations.customFields ?? []);
          return { ...settings, declarations: { ...settings.declarations, customFields } };
        });
    }
  }

  async #applyRules(change: Partial<Rules> = {}): Promise<void> {
    const { now, day } = await this.#moment();
    this.shown.applyRules({ day, ...change }, now);
  }

  /** The time on the source's clock, whose days its rules use. */
  async #moment(): Promise<{ readonly now: number; readonly day: string }> {
    const { time, processes, plan } = this.#options;
    const { now } = time;
    if (plan.wrongClock === undefined) return { now, day: dayFrom(now) };
    const served = processes.served();
    return { now: await served.now(), day: (await served.model()).day };
  }

  async #changeRole(): Promise<void> {
    if (!this.mayChangeRole()) return;
    const { time, log } = this.#options;
    this.roleSince = time.now;
    await this.#applyRules({ role: this.shown.role === 'idx' ? 'private' : 'idx' });
    log(`source: the key is ${this.shown.role} now`);
  }

  /** Listings become visible or hidden without any other change: no timestamp moves, and no field changes. */
  async #changeRule(): Promise<void> {
    const showsWithdrawn = !this.shown.showsWithdrawn;
    const [from, to] = showsWithdrawn
      ? [ON_MARKET, `${ON_MARKET},'Withdrawn'`]
      : [`${ON_MARKET},'Withdrawn'`, ON_MARKET];
    await (await this.#writer()).configure((settings) => {
      const roles = settings.access.roles.map((role) =>
        role.name === 'idx' && role.resources !== 'all'
          ? {
              ...role,
              resources: { ...role.resources, Property: role.resources.Property?.replace(from, to) ?? '' },
            }
          : role,
      );
      return { ...settings, access: { ...settings.access, roles } };
    });
    await this.#applyRules({ showsWithdrawn });
  }

  #someListing(): string {
    const { random } = this.#options;
    const keys = [...this.#listings.keys()];
    return keys.length === 0 ? listingKeys(random) : random.pick(keys);
  }

  #drawListing(key: string): Json {
    const { random } = this.#options;
    const own = { ...drawFacts(random), ...drawStatus(random), ...drawDisplay(random) };
    return { ListingKey: key, ...own, ...this.#drawChildren(key) };
  }

  /** Draws some collections again: members stay, are added, changed and removed. */
  #drawChildren(key: string): Json {
    const { random } = this.#options;
    const chosen = COLLECTION_NAMES.filter(() => random.chance(0.5));
    return Object.fromEntries(
      chosen.map((name) => {
        const kept = this.#childrenOf(key, name)
          .filter(() => random.chance(0.7))
          .map((child) =>
            random.chance(0.3) ? { ...child, ...described(name, random.integer(1, 999)) } : child,
          );
        const fresh = Array.from({ length: random.integer(0, 2) }, () =>
          drawChild(random, name, ++this.#children),
        );
        return [name, [...kept, ...fresh]];
      }),
    );
  }

  #childrenOf(key: string, name: (typeof COLLECTION_NAMES)[number]): Json[] {
    const given = this.#listings.get(key)?.[name];
    return Array.isArray(given) ? given : [];
  }

  /** New values; status, display and children stay. */
  #without(listing: Json, facts: Json): Json {
    const stay = new Set<string>([
      ...COLLECTION_NAMES,
      ...['ListingKey', 'StandardStatus', 'CloseDate'],
      ...['InternetEntireListingDisplayYN', 'InternetAddressDisplayYN'],
    ]);
    return { ...Object.fromEntries(Object.entries(listing).filter(([name]) => stay.has(name))), ...facts };
  }

  /** A photo is added or removed by itself, not with its listing. */
  async #onePhoto(key: string): Promise<void> {
    const { random } = this.#options;
    const listing = this.#listings.get(key);
    if (listing === undefined) return;
    const writer = await this.#writer();
    const photos = this.#childrenOf(key, 'Media');
    const [gone] = random.some(photos, 1);
    if (gone !== undefined && random.chance(0.5)) {
      await writer.remove('Media', [String(gone.MediaKey)]);
      this.#listings.set(key, { ...listing, Media: photos.filter((each) => each !== gone) });
    } else {
      const photo = drawChild(random, 'Media', ++this.#children);
      await this.#write('Media', [{ ...photo, ResourceName: 'Property', ResourceRecordKey: key }]);
      this.#listings.set(key, { ...listing, Media: [...photos, photo] });
    }
    await this.#look('Property', [key]);
  }

  async #put(listings: readonly Json[]): Promise<void> {
    const whole = listings.map((listing) => {
      const before = this.#listings.get(String(listing.ListingKey)) ?? {};
      const kept = COLLECTION_NAMES.flatMap((name) =>
        name in before ? [[name, before[name]] as const] : [],
      );
      return { ...Object.fromEntries(kept), ...listing };
    });
    await this.#write('Property', whole);
    for (const listing of whole) this.#listings.set(String(listing.ListingKey), listing);
    await this.#look(
      'Property',
      whole.map((listing) => String(listing.ListingKey)),
    );
  }

  async #putAccount(resource: 'Member' | 'Office', record: Json): Promise<void> {
    await this.#write(resource, [record]);
    await this.#look(resource, [String(record[KEY_FIELDS[resource] ?? ''])]);
  }

  async #remove(resource: string, key: string): Promise<void> {
    await (await this.#writer()).remove(resource, [key]);
    if (resource === 'Property') this.#listings.delete(key);
    this.shown.remove(resource, key);
  }

  async #write(resource: string, records: readonly Json[]): Promise<void> {
    const { log } = this.#options;
    const writer = await this.#writer();
    const model = await writer.model();
    const parsed = records.map((record) => {
      const result = parseRecord(model.resource(resource), record, model);
      assert.ok(result.ok, result.ok ? '' : result.invalid.reasons.join('; '));
      return result.record;
    });
    const { stamp, rejected } = await writer.write(resource, parsed);
    assert.deepEqual(rejected, []);
    log(`source: ${resource} ${parsed.map(({ key }) => key).join(' ')} written at ${stamp}`);
  }

  /** Reads what the store made of a record. */
  async #look(resource: string, keys: readonly string[]): Promise<void> {
    const writer = await this.#writer();
    const { now } = await this.#moment();
    for (const key of keys) {
      const [values] = await writer.contents(resource, { key });
      if (values !== undefined) this.shown.put(resource, key, values, now);
    }
    await this.#applyRules();
  }
}
