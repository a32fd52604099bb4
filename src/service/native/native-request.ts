import { type NativeParameters, parseParameters } from '../../query/native/index.ts';
import type { ServiceContext } from '../context.ts';
import type { Exchange, Session } from '../exchange.ts';

/** A request of the native interface with what all its handlers need. */
export interface NativeExchange {
  readonly context: ServiceContext;
  readonly exchange: Exchange;
  readonly session: Session;
  readonly parameters: NativeParameters;
}

export function nativeExchange(
  context: ServiceContext,
  exchange: Exchange,
  session: Session,
): NativeExchange {
  return { context, exchange, session, parameters: parseParameters(exchange.query) };
}
