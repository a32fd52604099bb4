/** An event that a state does not allow: a fault of the consumer's own. */
export class ImpossibleEvent extends Error {
  override readonly name = 'ImpossibleEvent';
}

/** A cell of a table for what a correct consumer never does. */
export function impossible(state: { readonly kind: string }, event: { readonly kind: string }): never {
  throw new ImpossibleEvent(`${event.kind} cannot happen in the state ${state.kind}`);
}
