import assert from 'node:assert/strict';
import { makeView, type RowScope, type View } from '../../src/access/index.ts';
import type { StoreModel } from '../../src/compile/model.ts';

/** A key as a test specifies it: a role, and other restrictions. */
export interface Viewer extends Partial<Pick<RowScope, 'systems' | 'onlyFloorPlans'>> {
  readonly role: string;
}

export const PRIVATE: Viewer = { role: 'private' };
export const IDX: Viewer = { role: 'idx' };

export function viewOf(model: StoreModel, { role: name, systems, onlyFloorPlans = false }: Viewer): View {
  const role = model.rules.roles.get(name);
  assert.ok(role, `no role ${name}`);
  const scope: RowScope = {
    bit: role.bit,
    ...(systems === undefined ? {} : { systems }),
    withholds: !role.seesWithheld,
    onlyFloorPlans,
  };
  const { dictionary, inUse, stores } = model;
  return makeView({ dictionary, role, scope, inUse, holdsData: stores });
}
