import type { StoreModel } from '../../compile/model.ts';
import { readMeta } from '../../store/meta.ts';
import type { ResourceStatus, StoreStatus } from '../../store/store.ts';
import type { ServerSession } from './connection/session.ts';
import { readSystems } from './making/partitions.ts';

export async function readStatus(
  session: ServerSession,
  model: StoreModel,
  store: string,
): Promise<StoreStatus> {
  const stored = [...model.dictionary.resources.values()].filter(({ name }) => model.stores(name));
  const resources: ResourceStatus[] = [];
  for (const resource of stored) {
    const status = await resourceStatus(session, model, resource.name);
    if (resource.always || status.rows > 0 || status.deleted > 0) resources.push(status);
  }
  const [size] = await session.rows(
    `SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) AS bytes FROM pg_class c
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')`,
  );
  const { layout, lastStamp } = await readMeta(session);
  const systems = await readSystems(session);
  return {
    store,
    engine: 'postgres',
    owner: model.settings.owner,
    layout,
    generation: model.generation,
    ...(systems === undefined ? {} : { partitions: { by: 'OriginatingSystemID', systems: systems.size } }),
    bytes: Number(size?.bytes),
    lastStamp,
    resources,
    danglingLinks: await danglingLinks(session, model),
  };
}

async function resourceStatus(
  session: ServerSession,
  model: StoreModel,
  resource: string,
): Promise<ResourceStatus> {
  const layout = model.layout(resource);
  const stamped = layout.fields.some((field) => field.name === 'ModificationTimestamp');
  const last = stamped ? `(SELECT max("ModificationTimestamp") FROM "${layout.columnsTable}")` : 'NULL';
  const orphans =
    layout.resource.parent === undefined
      ? '0'
      : `(SELECT count(*) FROM "${layout.columnsTable}" WHERE _visible = 0)`;
  const [row] = await session.rows(
    `SELECT (SELECT coalesce(sum(rows), 0) FROM plat_counters WHERE resource = $1) AS rows, ${last} AS last,
     (SELECT count(*) FROM plat_tombstones WHERE resource = $1) AS deleted, ${orphans} AS orphans`,
    [resource],
  );
  return {
    resource,
    rows: Number(row?.rows),
    lastModification: typeof row?.last === 'string' ? `${row.last}Z` : null,
    deleted: Number(row?.deleted),
    orphans: Number(row?.orphans),
  };
}

async function danglingLinks(
  session: ServerSession,
  model: StoreModel,
): Promise<StoreStatus['danglingLinks']> {
  const { links, columnsTable } = model.layout('Property');
  const found: { link: string; keys: number; listings: number }[] = [];
  for (const { field, resource } of links) {
    const target = model.layout(resource).columnsTable;
    const [row] = await session.rows(
      `SELECT count(DISTINCT r."${field}") AS keys, count(*) AS listings FROM "${columnsTable}" r
       WHERE r."${field}" IS NOT NULL AND NOT EXISTS (SELECT 1 FROM "${target}" t WHERE t._key = r."${field}")`,
    );
    const keys = Number(row?.keys ?? 0);
    if (keys > 0) found.push({ link: field, keys, listings: Number(row?.listings) });
  }
  return found;
}
