/** Tables of states and events: a cell for each pair makes the next state. This module knows no state and no event. */

interface Named {
  readonly kind: string;
}

type Cell<States, Events, S extends keyof States, E extends keyof Events> = (
  state: States[S],
  event: Events[E],
) => States[keyof States];

export type StateRow<States, Events, S extends keyof States = keyof States> = {
  readonly [E in keyof Events]: Cell<States, Events, S, E>;
};
/** A missing case does not compile. */
export type StateTable<States, Events> = { readonly [S in keyof States]: StateRow<States, Events, S> };

/** An event that a state does not allow: a fault of the consumer's own. */
export class ImpossibleEvent extends Error {
  override readonly name = 'ImpossibleEvent';
}

/** A cell of a table for what a correct consumer never does. */
export function impossible(state: Named, event: Named): never {
  throw new ImpossibleEvent(`${event.kind} cannot happen in the state ${state.kind}`);
}

/** The next state. @param from,what the kinds of the state and the event @throws ImpossibleEvent */
export function nextState<States, Events, S extends keyof States, E extends keyof Events>(
  table: StateTable<States, Events>,
  from: S,
  what: E,
  state: States[S],
  event: Events[E],
): States[keyof States] {
  const row: StateRow<States, Events, S> = table[from];
  return row[what](state, event);
}
