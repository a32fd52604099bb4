/** What `plat status` reports about the records of a store. */
import { bind, name, sql } from '../compile/fragment.ts';
import { indexedTable, tableWith } from '../compile/layout/index.ts';
import type { StoreModel } from '../compile/model.ts';
import type { EngineFacts } from './engine.ts';
import type { Session } from './session.ts';
import { readMeta } from './state/meta.ts';
import type { ResourceStatus, StoreStatus } from './store.ts';

export async function readStatus(
  session: Session,
  model: StoreModel,
  store: string,
  { engine, layout, ...size }: EngineFacts,
): Promise<StoreStatus> {
  const resources: ResourceStatus[] = [];
  for (const resource of model.dictionary.resources.values()) {
    if (!model.stores(resource.name)) continue;
    const status = await resourceStatus(session, model, resource.name);
    if (resource.always || status.rows > 0 || status.deleted > 0) resources.push(status);
  }
  const { generation, settings } = model;
  const { lastStamp, changesHorizon: since } = await readMeta(session, 'lastStamp', 'changesHorizon');
  const [log] = await session.rows(sql`SELECT coalesce(max(seq), 0) AS last, count(*) AS entries
    FROM plat_changes`);
  const changes = { last: Number(log?.last), since, entries: Number(log?.entries) };
  const danglingLinks = await findDanglingLinks(session, model);
  // Operators read them in this order.
  const of = { store, engine, owner: settings.owner, layout, generation, ...size };
  return { ...of, lastStamp, changes, resources, danglingLinks };
}

async function resourceStatus(
  session: Session,
  model: StoreModel,
  resource: string,
): Promise<ResourceStatus> {
  const layout = model.layout(resource);
  const { columnsTable, fields, resource: kind } = layout;
  const records = name(columnsTable);
  const isOfIt = sql`resource = ${bind(resource)}`;
  const isStamped = fields.some((field) => field.name === 'ModificationTimestamp');
  const last = isStamped
    ? sql`(SELECT max("ModificationTimestamp") FROM ${name(indexedTable(layout))})`
    : sql`NULL`;
  const orphans =
    kind.parent === undefined ? sql`0` : sql`(SELECT count(*) FROM ${records} WHERE _visible = 0)`;
  const [row] = await session.rows(sql`SELECT
    (SELECT coalesce(sum(rows), 0) FROM plat_counters WHERE ${isOfIt}) AS rows, ${last} AS last,
    (SELECT count(*) FROM plat_tombstones WHERE ${isOfIt}) AS deleted, ${orphans} AS orphans`);
  return {
    resource,
    rows: Number(row?.rows),
    lastModification: typeof row?.last === 'string' ? `${row.last}Z` : null,
    deleted: Number(row?.deleted),
    orphans: Number(row?.orphans),
  };
}

async function findDanglingLinks(session: Session, model: StoreModel): Promise<StoreStatus['danglingLinks']> {
  const layout = model.layout('Property');
  const found: { link: string; keys: number; listings: number }[] = [];
  for (const { field, resource } of layout.links) {
    const target = name(model.layout(resource).columnsTable);
    const link = sql`r.${name(field)}`;
    const [row] = await session.rows(sql`SELECT count(DISTINCT ${link}) AS keys, count(*) AS listings
      FROM ${name(tableWith(layout, [field]))} r
      WHERE ${link} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${target} t WHERE t._key = ${link})`);
    const keys = Number(row?.keys ?? 0);
    if (keys > 0) found.push({ link: field, keys, listings: Number(row?.listings) });
  }
  return found;
}
