import { hash } from 'node:crypto';
import type { Ledger } from '../../store/ledger.ts';
import { type BudgetLimits, readUse, receive, seenFrom, spend, waitFor } from './budget.ts';

/** Leave to send requests with one token. */
export interface Allowance {
  /** Takes leave for one request. @returns 0 when it has it, else the milliseconds after which to ask again */
  take(now: number): Promise<number>;
  /** Notes what came. @param blocked milliseconds since 1970 until which the source wants nothing */
  note(bytes: number, blocked: number, now: number): Promise<void>;
}

/** The name under which the use of a token is kept; the token itself is kept nowhere. */
export const budgetName = (token: string): string =>
  `token:${hash('sha256', token, 'base64url').slice(0, 16)}`;

/** Leave to send whatever is to be sent: nothing is known of limits but what answers say. */
export const UNLIMITED: Allowance = { take: async () => 0, note: async () => undefined };

const USE = 'use';

/** The allowance that all processes on one store share. */
export function sharedAllowance(ledger: Ledger, token: string, limits: BudgetLimits): Allowance {
  const name = budgetName(token);
  const isCounted = Object.values(limits).some((limit) => limit !== undefined);
  return {
    async take(now) {
      // Where nothing is limited, only what the source itself said counts, and that is seldom written.
      if (!isCounted) return waitFor(limits, readUse((await ledger.state(name))[USE]), now);
      let wait = 0;
      await ledger.exchange(name, USE, (kept) => {
        const use = readUse(kept);
        wait = waitFor(limits, use, now);
        return wait > 0 ? seenFrom(use, now) : spend(use, now);
      });
      return wait;
    },
    async note(bytes, blocked, now) {
      if (!isCounted && blocked <= now) return;
      await ledger.exchange(name, USE, (kept) => receive(readUse(kept), bytes, blocked, now));
    },
  };
}
