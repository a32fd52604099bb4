import {
  type MarketContext,
  memberStream,
  type OriginatingSystem,
  officeStream,
  systemOfOffice,
} from '../context.ts';
import type { Random } from '../random.ts';
import type { Fields } from '../records.ts';
import type { Timeline } from './timeline.ts';

type Agent = ReturnType<typeof memberStream>;

/** Who brings a listing to the market and who sells it: keys only, the rest is read from their records. */
interface Parties {
  readonly system: OriginatingSystem;
  readonly agentKey: string;
  readonly fields: Fields;
}

/** Tries to find an agent who fits, before the listing does without. */
const TRIES = 12;

function drawAgent(market: MarketContext, random: Random): Agent {
  // A few agents have many listings, most have few.
  return memberStream(market, Math.floor(random.unit() ** 1.4 * market.members));
}

function findAgent(
  market: MarketContext,
  random: Random,
  fits: (agent: Agent) => boolean,
): Agent | undefined {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const agent = drawAgent(market, random);
    if (fits(agent)) return agent;
  }
  return undefined;
}

/** Draws the agents of a listing; all are of its originating system. */
export function drawParties(market: MarketContext, timeline: Timeline, random: Random): Parties {
  const { close, contract } = timeline;
  // An agent who has left may still stand in old sales; nobody sells before joining.
  const there = (agent: Agent): boolean => agent.entered < contract && (agent.active || close !== undefined);
  const list = findAgent(market, random, there) ?? drawAgent(market, random);
  const system = systemOfOffice(list.office);
  const alike = (agent: Agent): boolean => there(agent) && systemOfOffice(agent.office) === system;
  const colleague = random.chance(0.14)
    ? findAgent(market, random, (agent) => alike(agent) && agent.serial !== list.serial)
    : undefined;
  // Without another agent the listing one has found the buyer too.
  const buyer = close === undefined ? undefined : (findAgent(market, random, alike) ?? list);
  const second =
    buyer !== undefined && random.chance(0.08)
      ? findAgent(market, random, (agent) => alike(agent) && agent.serial !== buyer.serial)
      : undefined;
  const officeKey = (agent: Agent | undefined): string | undefined =>
    agent && officeStream(market, agent.office).key();
  const agentKey = list.key();
  return {
    system,
    agentKey,
    fields: {
      ListAgentKey: agentKey,
      ListOfficeKey: officeKey(list),
      CoListAgentKey: colleague?.key(),
      CoListOfficeKey: officeKey(colleague),
      BuyerAgentKey: buyer?.key(),
      BuyerOfficeKey: officeKey(buyer),
      CoBuyerAgentKey: second?.key(),
      CoBuyerOfficeKey: officeKey(second),
    },
  };
}
