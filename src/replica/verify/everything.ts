import { makeView, type View } from '../../access/index.ts';
import type { StoreModel } from '../../compile/model.ts';

/** A view of a store for the proof: every record that any role sees, whole. It is no role, and no request has it. */
export function everything({ dictionary, inUse, stores }: StoreModel): View {
  const role = {
    name: 'verify',
    bit: -1,
    seesWithheld: true,
    seesField: () => true,
    readsResource: () => true,
  };
  const scope = { bit: role.bit, withholds: false, onlyFloorPlans: false };
  return makeView({ dictionary, role, scope, inUse, holdsData: stores });
}
