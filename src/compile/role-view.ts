/**
 * The view of a store that a role gets under its current settings.
 */
import { makeView, type View } from '../access/index.ts';
import { platError } from '../errors/index.ts';
import type { StoreModel } from './model.ts';

interface Seeing {
  readonly role: string;
  /** The originating systems to which it is restricted; empty: none. */
  readonly systems: readonly string[];
  /** As in `RowScope`. */
  readonly onlyFloorPlans?: boolean;
  readonly enumerations?: boolean;
}

/** @throws PlatError `roleUnknown` */
export function roleView(model: StoreModel, seeing: Seeing): View {
  const role = model.rules.roles.get(seeing.role);
  if (role === undefined) throw platError('roleUnknown', { role: seeing.role });
  return makeView({
    dictionary: model.dictionary,
    role,
    scope: {
      bit: role.bit,
      ...(seeing.systems.length > 0 ? { systems: seeing.systems } : {}),
      withholds: !role.seesWithheld,
      onlyFloorPlans: seeing.onlyFloorPlans ?? false,
    },
    inUse: model.inUse,
    holdsData: model.stores,
    enumerations: seeing.enumerations ?? false,
  });
}
