/** The view of a store that a role gets under its current settings. */
import { makeView, type View } from '../access/index.ts';
import { platError } from '../errors/index.ts';
import type { StoreModel } from './model.ts';

interface Seeing {
  readonly role: string;
  /** Originating systems; if empty, the view is not restricted to systems. */
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
