import type { Reply } from '../exchange.ts';
import { RESO_JSON, type ResoRequest } from './resource-request.ts';

/** placeholder until the documents stand */
export function metadata(_request: ResoRequest): Reply {
  return { status: 200, headers: { 'content-type': RESO_JSON }, body: ['{}'] };
}
