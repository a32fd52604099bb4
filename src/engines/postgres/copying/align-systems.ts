import { type Court, childLayouts, judgeChildren } from '../writing/judge.ts';

/** Parents whose children are looked after at once. */
const AT_ONCE = 1000;

/**
 * Brings what is part of a record to the record's originating system, where rows came from a store that did not see
 * to it.
 */
export async function alignSystems(court: Court): Promise<void> {
  const { session, model } = court;
  const resources = [...model.dictionary.resources.values()].filter(({ name }) => model.stores(name));
  // What stands alone first, then its parts, which may have parts of their own.
  for (const kind of [undefined, 'fixed', 'named'] as const) {
    for (const { name: owner } of resources.filter(({ parent }) => parent?.kind === kind)) {
      for (const { columnsTable } of childLayouts(model, owner)) {
        const rows = await session.rows(
          `SELECT DISTINCT p._key AS key FROM "${columnsTable}" c
           JOIN "${model.layout(owner).columnsTable}" p ON p._key = c._parent
           WHERE c._parent_resource = $1 AND c._system IS DISTINCT FROM p._system`,
          [owner],
        );
        const keys = rows.map(({ key }) => String(key));
        for (let at = 0; at < keys.length; at += AT_ONCE) {
          await judgeChildren(court, owner, keys.slice(at, at + AT_ONCE));
        }
      }
    }
  }
  await court.counters.flush();
}
