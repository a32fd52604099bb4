import { statSync } from 'node:fs';
import type { StoreModel } from '../../compile/model.ts';
import type { ResourceStatus, StoreStatus } from '../../store/store.ts';
import type { Connection } from './connection.ts';
import { LAYOUT_VERSION } from './create.ts';
import { readTimes } from './meta.ts';

export function readStatus(connection: Connection, model: StoreModel, path: string): StoreStatus {
  const stored = [...model.dictionary.resources.values()].filter(({ name }) => model.stores(name));
  const resources = stored.flatMap((resource) => {
    const status = resourceStatus(connection, model, resource.name);
    return resource.always || status.rows > 0 || status.deleted > 0 ? [status] : [];
  });
  return {
    store: path,
    engine: 'sqlite',
    owner: model.settings.owner,
    layout: LAYOUT_VERSION,
    generation: model.generation,
    bytes: statSync(path).size,
    lastStamp: readTimes(connection).lastStamp,
    resources,
    danglingLinks: danglingLinks(connection, model),
  };
}

function resourceStatus(connection: Connection, model: StoreModel, resource: string): ResourceStatus {
  const layout = model.layout(resource);
  const stamped = layout.fields.some((field) => field.name === 'ModificationTimestamp');
  const one = (text: string, ...values: string[]): unknown => connection.prepare(text).get(...values)?.value;
  const last = stamped
    ? one(`SELECT max("ModificationTimestamp") AS value FROM "${layout.columnsTable}"`)
    : null;
  const orphans =
    layout.resource.parent === undefined
      ? 0
      : one(`SELECT count(*) AS value FROM "${layout.columnsTable}" WHERE _visible = 0`);
  return {
    resource,
    rows: Number(
      one('SELECT coalesce(sum(rows), 0) AS value FROM plat_counters WHERE resource = ?', resource),
    ),
    lastModification: typeof last === 'string' ? `${last}Z` : null,
    deleted: Number(one('SELECT count(*) AS value FROM plat_tombstones WHERE resource = ?', resource)),
    orphans: Number(orphans),
  };
}

function danglingLinks(connection: Connection, model: StoreModel): StoreStatus['danglingLinks'] {
  const { links, columnsTable } = model.layout('Property');
  return links.flatMap(({ field, resource }) => {
    const target = model.layout(resource).columnsTable;
    const row = connection
      .prepare(
        `SELECT count(DISTINCT r."${field}") AS keys, count(*) AS listings FROM "${columnsTable}" r
         WHERE r."${field}" IS NOT NULL AND NOT EXISTS (SELECT 1 FROM "${target}" t WHERE t._key = r."${field}")`,
      )
      .get();
    const keys = Number(row?.keys ?? 0);
    return keys === 0 ? [] : [{ link: field, keys, listings: Number(row?.listings ?? 0) }];
  });
}
