import { nearestOfEither } from '../../../dictionary/index.ts';
import { type PlatError, platError } from '../../../errors/index.ts';
import type { ResourceSchema } from '../../schema.ts';
import { placeOf, type Source, shown } from '../syntax/source.ts';

/** A name that does not exist, or that the key may not know: the two look alike. */
export function fieldUnknown(
  schema: ResourceSchema,
  source: Source,
  { name, start }: { readonly name: string; readonly start: number },
): PlatError {
  const nearest = nearestOfEither(name, schema.names(), schema.nativeCounterparts());
  const resource = schema.resource.name;
  const facts = { ...placeOf(source, start), name: shown(name), resource, nearest };
  return platError('fieldUnknown', facts, { target: source.option });
}
