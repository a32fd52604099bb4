import type { NativeNames } from '../../query/native/names.ts';
import { type NativeParameters, parseParameters } from '../../query/native/parameters.ts';
import { bindParameters } from '../../query/native/request.ts';
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

/** Names of a collection that has no fields to select, order or filter by. */
export const noNames = (collection: string): NativeNames => ({
  collection,
  find: () => ({ kind: 'unknown' }),
  findCustom: () => ({ kind: 'unknown' }),
  lookup: () => undefined,
  names: () => [],
  customNames: () => [],
  counterparts: () => [],
});

/** @throws PlatError `optionNotTaken` for any parameter of the native interface, where none has a meaning */
export function refuseParameters({ parameters, session }: NativeExchange, collection: string): void {
  bindParameters(parameters, {
    names: noNames(collection),
    parameters: [],
    expansions: [],
    limit: { most: 1 },
    now: new Date(session.now),
  });
}
