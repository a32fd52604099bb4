import type { PlatError } from '../../errors/index.ts';
import { JSON_TYPE, type Reply } from '../exchange.ts';

/** An error in the envelope of OData (JSON format 4.01, 21.1). */
export function resoError(error: PlatError, headers: Readonly<Record<string, string>>): Reply {
  const { code, message, target, details } = error;
  const body = {
    error: {
      code,
      message,
      ...(target === undefined ? {} : { target }),
      ...(details.length === 0 ? {} : { details: details.map((detail) => ({ code, ...detail })) }),
    },
  };
  return {
    status: error.status,
    headers: { 'content-type': JSON_TYPE, ...headers },
    body: [JSON.stringify(body)],
  };
}
