export class ImpossibleEvent extends Error {
  override readonly name = 'ImpossibleEvent';
}

/** A cell of the table for what a right consumer never does. */
export function impossible(state: { readonly kind: string }, event: { readonly kind: string }): never {
  throw new ImpossibleEvent(`${event.kind} cannot happen in the state ${state.kind}`);
}
