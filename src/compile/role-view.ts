/** What a role sees of a store, as its settings are now. */
import { makeView, type View } from '../access/index.ts';
import { platError } from '../errors/index.ts';
import type { StoreModel } from './model.ts';

interface Seeing {
  readonly role: string;
  /** Originating systems; none: all. */
  readonly systems: readonly string[];
  /** As of `RowScope`. */
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
