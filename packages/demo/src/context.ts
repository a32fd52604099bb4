import { DAY } from './dates.ts';
import { makeKey } from './keys.ts';
import { makeRandom, type Random } from './random.ts';

/** What every record of a market is made from. */
export interface MarketContext {
  readonly seed: number;
  /** The moment that all dates lead up to. */
  readonly now: number;
  readonly listings: number;
  readonly members: number;
  readonly offices: number;
}

export interface OriginatingSystem {
  readonly id: string;
  readonly name: string;
  readonly association: string;
  /** Begins the ids that people use: listing numbers, agent and office ids. */
  readonly prefix: string;
}

const CALDER: OriginatingSystem = {
  id: 'M00000412',
  name: 'Calder Bay MLS',
  association: 'Calder Bay Association of Brokers',
  prefix: '4',
};
const LAKESHORE: OriginatingSystem = {
  id: 'M00000587',
  name: 'Lakeshore Counties MLS',
  association: 'Lakeshore Counties Board of Brokers',
  prefix: '7',
};
export const SYSTEMS = [CALDER, LAKESHORE] as const;

/** Three of five offices belong to the larger system. */
export function systemOfOffice(office: number): OriginatingSystem {
  return office % 5 < 3 ? CALDER : LAKESHORE;
}

/** Every sixth office is a branch of the one five before it, which is of the same system. */
export function mainOfficeOf(office: number): number | undefined {
  return office % 6 === 5 ? office - 5 : undefined;
}

/** The beginning of an office's or agent's record, which other records need without the rest. */
interface Stream {
  readonly serial: number;
  readonly entered: number;
  readonly random: Random;
  key(): string;
}

/** The stream of an office. A branch is younger than its firm. */
export function officeStream(market: MarketContext, office: number): Stream {
  const random = makeRandom(market.seed, 'office', office);
  const main = mainOfficeOf(office);
  const age =
    main === undefined
      ? random.between(3.2, 19) * 365 * DAY
      : (market.now - officeStream(market, main).entered) * random.between(0.2, 0.9);
  const entered = Math.floor(market.now - age);
  return { serial: office, entered, random, key: () => makeKey('office', entered, office) };
}

/** The stream of an agent: office and whether the agent still works come from its first numbers. */
export function memberStream(
  market: MarketContext,
  member: number,
): Stream & { readonly office: number; readonly active: boolean } {
  const random = makeRandom(market.seed, 'member', member);
  const entered = Math.floor(market.now - random.between(0.3, 18) * 365 * DAY);
  // The first agent of each office is its broker, so that no office is empty.
  const drawn = Math.floor(random.unit() ** 1.5 * market.offices);
  const broker = member < market.offices;
  return {
    serial: member,
    entered,
    office: broker ? member : drawn,
    active: broker || !random.chance(0.03),
    random,
    key: () => makeKey('member', entered, member),
  };
}
