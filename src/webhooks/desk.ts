/** What the process that delivers to webhooks reports of them, and does with one at once. */
import type { Outcome } from './attempt.ts';

/** How many webhooks are sent to, how many of those have failed last, and how many are paused. */
export type WebhookStates = Readonly<Record<'active' | 'failing' | 'paused', number>>;

export interface WebhookDesk {
  states(): WebhookStates;
  /** Sends a message without events. */
  test(id: string): Promise<Outcome>;
}
