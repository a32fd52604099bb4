import { suite } from 'node:test';
import type { Engine } from '../../support/engine.ts';
import { accessChangeContract } from './access-changes.ts';
import { changesContract } from './changes.ts';
import { checkContract } from './checks.ts';
import { childrenContract } from './children.ts';
import { configureContract } from './configure.ts';
import { copyContract } from './copies.ts';
import { countContract } from './counts.ts';
import { deleteContract } from './deletes.ts';
import { edgeValueContract } from './edge-values.ts';
import { epochContract } from './epochs.ts';
import { eventsContract } from './events.ts';
import { expansionContract } from './expansions.ts';
import { facetContract } from './facets.ts';
import { feedContract } from './feed.ts';
import { fieldsInUseContract } from './fields-in-use.ts';
import { fileContract } from './files.ts';
import { heavyContract } from './heavy.ts';
import { historyContract } from './history.ts';
import { keyContract } from './keys.ts';
import { laneContract } from './lanes.ts';
import { linkedContract } from './linked.ts';
import { listContract } from './lists.ts';
import { mediaContract } from './media.ts';
import { mergedContract } from './merged.ts';
import { midnightContract } from './midnight.ts';
import { nativeContract } from './native.ts';
import { orderContract } from './orders.ts';
import { orphanContract } from './orphans.ts';
import { pagingContract } from './paging.ts';
import { parentContract } from './parents.ts';
import { recordContract } from './records.ts';
import { restampContract } from './restamp.ts';
import { roleContract } from './roles.ts';
import { searchContract } from './search.ts';
import { searchTableContract } from './search-table.ts';
import { soundRowsContract } from './sound-rows.ts';
import { stampContract } from './stamps.ts';
import { storedSettingsContract } from './stored-settings.ts';
import { systemContract } from './systems.ts';
import { togetherContract } from './together.ts';
import { valuesInUseContract } from './values-in-use.ts';
import { webhookContract } from './webhooks.ts';
import { withheldContract } from './withheld.ts';

/** What every engine must do when records are written. */
export function writingContract(engine: Engine): void {
  suite(`${engine.name}: records`, () => recordContract(engine));
  suite(`${engine.name}: children`, () => childrenContract(engine));
  suite(`${engine.name}: orphans`, () => orphanContract(engine));
  suite(`${engine.name}: deletes`, () => deleteContract(engine));
  suite(`${engine.name}: systems`, () => systemContract(engine));
  suite(`${engine.name}: media`, () => mediaContract(engine));
  suite(`${engine.name}: timestamps`, () => stampContract(engine));
  suite(`${engine.name}: heavy records`, () => heavyContract(engine));
  suite(`${engine.name}: changes of a replica in one transaction`, () => togetherContract(engine));
  suite(`${engine.name}: a clock that was wrong`, () => restampContract(engine));
  suite(`${engine.name}: the sequence of changes`, () => changesContract(engine));
  suite(`${engine.name}: the feed of changes`, () => feedContract(engine));
  suite(`${engine.name}: webhooks`, () => webhookContract(engine));
  suite(`${engine.name}: events`, () => eventsContract(engine));
  suite(`${engine.name}: parents`, () => parentContract(engine));
  suite(`${engine.name}: fields in use`, () => fieldsInUseContract(engine));
  suite(`${engine.name}: values in use`, () => valuesInUseContract(engine));
  suite(`${engine.name}: changes of access`, () => accessChangeContract(engine));
  suite(`${engine.name}: keys`, () => keyContract(engine));
  suite(`${engine.name}: the history of services`, () => historyContract(engine));
  suite(`${engine.name}: configuration`, () => configureContract(engine));
  suite(`${engine.name}: epochs`, () => epochContract(engine));
  suite(`${engine.name}: checks`, () => checkContract(engine));
  suite(`${engine.name}: sound rows`, () => soundRowsContract(engine));
  suite(`${engine.name}: stored settings`, () => storedSettingsContract(engine));
  suite(`${engine.name}: copies`, () => copyContract(engine));
}

/** What every engine must do when records are read. */
export function readingContract(engine: Engine): void {
  suite(`${engine.name}: roles`, () => roleContract(engine));
  suite(`${engine.name}: midnight`, () => midnightContract(engine));
  suite(`${engine.name}: withheld addresses`, () => withheldContract(engine));
  suite(`${engine.name}: counts`, () => countContract(engine));
  suite(`${engine.name}: counts of values`, () => facetContract(engine));
  suite(`${engine.name}: the search table`, () => searchTableContract(engine));
  suite(`${engine.name}: paging`, () => pagingContract(engine));
  suite(`${engine.name}: orders`, () => orderContract(engine));
  suite(`${engine.name}: values at the edges`, () => edgeValueContract(engine));
  suite(`${engine.name}: lanes`, () => laneContract(engine));
  suite(`${engine.name}: agents and offices`, () => linkedContract(engine));
  suite(`${engine.name}: lists`, () => listContract(engine));
  suite(`${engine.name}: searches`, () => searchContract(engine));
  suite(`${engine.name}: expansions`, () => expansionContract(engine));
  suite(`${engine.name}: native interface`, () => nativeContract(engine));
  suite(`${engine.name}: merged collections`, () => mergedContract(engine));
  suite(`${engine.name}: served files`, () => fileContract(engine));
}

/** Everything that every engine must do. */
export function storeContract(engine: Engine): void {
  writingContract(engine);
  readingContract(engine);
}
