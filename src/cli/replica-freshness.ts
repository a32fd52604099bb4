import { replicaSources } from '../replica/checkpoint/checkpoint.ts';
import { sourceStatus } from '../replica/status.ts';
import type { ReadinessCheck } from '../service/admin/router.ts';
import type { Store } from '../store/store.ts';

/** A replica that is served is ready while every one of its sources is fresh. */
export function replicaFreshness(store: Store): ReadinessCheck {
  return {
    name: 'replica',
    async check() {
      const stale: string[] = [];
      for (const source of await replicaSources(store)) {
        const status = await sourceStatus(store, source, Date.now());
        if (status.stale !== undefined) stale.push(`${source}: ${status.stale}`);
      }
      return stale.length === 0 ? undefined : stale.join('; ');
    },
  };
}
