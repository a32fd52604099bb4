/** A role whose rule a test changes while pages for it are kept. */
import { BUILT_IN_ACCESS } from '../../../src/access/index.ts';
import type { Store } from '../../../src/store/store.ts';

/** Configures the role `partner`, which sees the listings that match `rule`, in addition to the built-in roles. */
export async function setPartnerRule(store: Store, rule: string): Promise<void> {
  const partner = { name: 'partner', classes: ['idx', 'address'], resources: { Property: rule, Office: '' } };
  await store.configure((settings) => ({
    ...settings,
    access: { ...BUILT_IN_ACCESS, roles: [...BUILT_IN_ACCESS.roles, partner] },
  }));
}
