import type { Command } from 'commander';
import { keyValidity } from '../../access/index.ts';
import { replicaSources } from '../../replica/checkpoint/checkpoint.ts';
import { type SourceStatus, sourceStatus } from '../../replica/status.ts';
import type { StoreStatus } from '../../store/store.ts';
import { JSON_OPTION } from '../options.ts';
import { print, table } from '../output.ts';
import { defineStoreAction } from '../store-command.ts';

export function defineStatus(defined: Command): void {
  defineStoreAction(defined, [JSON_OPTION()], async (store, { json }) => {
    const status = await store.status();
    const keys = await store.keys.list();
    const sources: SourceStatus[] = [];
    for (const source of await replicaSources(store)) {
      sources.push(await sourceStatus(store, source, Date.now()));
    }
    const now = await store.now();
    const valid = keys.filter((key) => keyValidity(key, now).valid).length;
    const ahead = await store.ahead();
    const all = { ...status, ahead, keys: { valid, all: keys.length }, sources };
    print(all, [...statusText(status, valid), ...sources.flatMap((each) => ['', ...sourceText(each)])], json);
  });
}

function statusText(status: StoreStatus, keys: number): string[] {
  const head = ['resource', 'records', 'deleted', 'without parent', 'last change'];
  const rows = status.resources.map((each) => [
    each.resource,
    String(each.rows),
    String(each.deleted),
    String(each.orphans),
    each.lastModification ?? '-',
  ]);
  const links = status.danglingLinks.map(
    ({ link, keys: count, listings }) => `${link}: ${count} keys in ${listings} listings refer to no record`,
  );
  const { partitions, changes } = status;
  const known = changes.since === 0 ? '' : `, as they were written since ${changes.since}`;
  return [
    `${status.store} (${status.engine}, ${status.owner}, layout ${status.layout}, ${(status.bytes / 1e6).toFixed(1)} MB)`,
    ...(partitions === undefined
      ? []
      : [`in partitions by ${partitions.by}, of ${partitions.systems} originating systems`]),
    `last timestamp ${status.lastStamp}, ${keys} valid keys`,
    `sequence of changes: last number ${changes.last}, ${changes.entries} entries${known}`,
    '',
    ...table([head, ...rows]),
    ...(links.length > 0 ? ['', ...links] : []),
  ];
}

/** Describes the method by which a watch learns of changes. */
const METHOD_TEXTS = {
  events: 'follows the events of the source',
  delta: 'asks for the changes of the source by delta links',
  'entity-event': 'asks for the entity events of the source',
  windows: 'reads changes in windows',
} as const;

function followingText({ following }: SourceStatus): string[] {
  if (following === undefined) return [];
  const { way, since, level, reason } = following;
  const facts = [
    `${METHOD_TEXTS[way]} since ${since}`,
    ...(level === undefined ? [] : [`last up to date at ${level}`]),
    ...(reason === undefined ? [] : [reason]),
  ];
  return [facts.join('; ')];
}

function sourceText(source: SourceStatus): string[] {
  const head = ['copy of', 'state', 'records', 'complete up to', 'lag', 'pending', 'last sweep', 'deleted'];
  const rows = source.collections.map((each) => [
    each.collection,
    each.sweep === 'idle' ? each.state : `${each.state}, sweep ${each.sweep}`,
    String(each.stored),
    each.cursor ?? '-',
    each.lag === undefined ? '-' : `${Math.round(each.lag / 1000)} s`,
    String(each.wanted),
    each.swept?.begun ?? '-',
    each.swept === undefined ? '-' : String(each.swept.deleted),
  ]);
  return [
    `source ${source.source}: ${source.identity ?? 'never contacted'}`,
    ...source.abilities.map((ability) => `  ${ability}`),
    ...table([head, ...rows]),
    `last update ${source.lastUpdate ?? 'never'}, last purge ${source.lastPurge ?? 'never'}, ${source.quarantined} in quarantine`,
    ...(source.withoutFiles === 0 ? [] : [`${source.withoutFiles} listings lack media files`]),
    ...followingText(source),
    ...(source.ignored.length > 0 ? [`left out: ${source.ignored.join(', ')}`] : []),
    ...(source.holder === undefined ? [] : [`${source.holder} is replicating it`]),
    ...source.troubles.map(
      ({ step, since, attempts, reason }) =>
        `in trouble: ${step} since ${since}, ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}: ${reason}`,
    ),
    ...(source.stale === undefined ? [] : [`not fresh: ${source.stale}`]),
  ];
}
