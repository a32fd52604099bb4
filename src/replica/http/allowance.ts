import { hash } from 'node:crypto';
import type { Ledger } from '../../store/ledger.ts';
import { type BudgetLimits, readUse, receive, spend, waitFor } from './budget.ts';

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

/** The allowance that all processes on one store share. */
export function sharedAllowance(ledger: Ledger, token: string, limits: BudgetLimits): Allowance {
  const name = budgetName(token);
  return {
    async take(now) {
      let wait = 0;
      await ledger.exchange(name, 'use', (kept) => {
        const use = readUse(kept);
        wait = waitFor(limits, use, now);
        return wait > 0 ? use : spend(use, now);
      });
      return wait;
    },
    note: (bytes, blocked, now) =>
      ledger.exchange(name, 'use', (kept) => receive(readUse(kept), bytes, blocked, now)),
  };
}
