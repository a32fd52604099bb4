import { attemptsOf, type SourceClient } from '../http/client.ts';
import { RequestFailure } from '../http/failure.ts';
import { readMoment } from './answer.ts';

/** Attempts at an address that a source need not have. */
const ATTEMPTS = 2;

/**
 * Asks for the moment on the source's clock. Any answer of the source tells it: where the cheap address gives no JSON,
 * that of a list does.
 * @throws RequestFailure when neither answers, or the source has no clock
 */
export function serverClock(client: SourceClient, cheap: string, list: string): () => Promise<number> {
  let address = cheap;
  return async () => {
    if (address === list) return client.get(list, readMoment);
    try {
      return await client.get(cheap, readMoment, attemptsOf(ATTEMPTS));
    } catch (error) {
      if (!mayBeMissing(error)) throw error;
    }
    const moment = await client.get(list, readMoment);
    address = list;
    return moment;
  };
}

/** Whether it is this address that fails: it is not there, is for others, or is a page for people. */
function mayBeMissing(error: unknown): boolean {
  if (!(error instanceof RequestFailure)) return false;
  return error.status !== undefined || error.kind === 'transient';
}
