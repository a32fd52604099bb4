/** What the process that delivers to webhooks reports about them, and the actions that it offers. */
import type { DeliveryOutcome } from './attempt.ts';

/** How many webhooks are active, how many of those failed at their last attempt, and how many are paused. */
export type WebhookStates = Readonly<Record<'active' | 'failing' | 'paused', number>>;

export interface WebhookControls {
  states(): WebhookStates;
  /** Sends a message without events. */
  test(id: string): Promise<DeliveryOutcome>;
}
