/** Caches what each key sees of the store; keys with the same view share it. It must not know how a request is answered. */
import { hash } from 'node:crypto';
import type { KeyRecord, View } from '../../access/index.ts';
import type { StoreModel } from '../../compile/model.ts';
import { roleView } from '../../compile/role-view.ts';
import { BoundedCache } from '../../shared/bounded-cache.ts';
import type { Reply, Session } from '../exchange.ts';
import type { LookupForm } from '../options.ts';

/** A service has only a few kinds of keys. */
const CACHE_BOUNDS = { entries: 200, bytes: 32 * 1024 * 1024 };
/** The approximate size in bytes of a view that is in use: the names and lists of fields of all resources. */
const VIEW = 170_000;

/** The views of keys. Keys with the same role, kind and set of systems share a view. */
export class ViewCache {
  readonly #enumerations: boolean;
  #model: StoreModel | undefined;
  readonly #views = new BoundedCache<View>('views', CACHE_BOUNDS);
  /** The views of recently read keys. */
  #byKey = new WeakMap<KeyRecord, View>();

  /** @param lookups how the RESO interface represents values of lookups */
  constructor(lookups: LookupForm = 'strings') {
    this.#enumerations = lookups === 'enumerations';
  }

  viewOf(key: KeyRecord, model: StoreModel): View {
    if (this.#model !== model) {
      this.#model = model;
      this.#views.clear();
      this.#byKey = new WeakMap();
    }
    return this.#byKey.getOrInsertComputed(key, () => this.#viewOf(key, model));
  }

  #viewOf(key: KeyRecord, model: StoreModel): View {
    const onlyFloorPlans = key.kind === 'floorplans';
    const id = JSON.stringify([key.role, key.systems, onlyFloorPlans]);
    const known = this.#views.get(id);
    if (known !== undefined) return known;
    const { role, systems } = key;
    const view = roleView(model, { role, systems, onlyFloorPlans, enumerations: this.#enumerations });
    return this.#views.put(id, view, VIEW);
  }
}

/**
 * A header of responses that list fields. If its value changes, the key may see other records than before although no timestamp has
 * changed, and a consumer reads everything again.
 */
const VIEW_HEADER = 'x-plat-view';

/** Adds a tag of everything that determines which records a key may see, apart from the records themselves and the calendar. */
export function withViewTag(reply: Reply, { key, model }: Session): Reply {
  const decides = [key.role, key.systems.toSorted(), model.settings.accessRevision ?? 0];
  const tag = hash('sha256', JSON.stringify(decides), 'base64url').slice(0, 12);
  return { ...reply, headers: { ...reply.headers, [VIEW_HEADER]: tag } };
}
