import { suite } from 'node:test';
import { type Engine, withUsualFields } from '../../support/engine.ts';
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
  const used = withUsualFields(engine);
  suite(`${engine.name}: records`, () => recordContract(used));
  suite(`${engine.name}: children`, () => childrenContract(used));
  suite(`${engine.name}: orphans`, () => orphanContract(used));
  suite(`${engine.name}: deletes`, () => deleteContract(used));
  suite(`${engine.name}: systems`, () => systemContract(used));
  suite(`${engine.name}: media`, () => mediaContract(used));
  suite(`${engine.name}: timestamps`, () => stampContract(engine));
  suite(`${engine.name}: heavy records`, () => heavyContract(used));
  suite(`${engine.name}: changes of a replica in one transaction`, () => togetherContract(engine));
  suite(`${engine.name}: a clock that was wrong`, () => restampContract(engine));
  suite(`${engine.name}: the sequence of changes`, () => changesContract(engine));
  suite(`${engine.name}: the feed of changes`, () => feedContract(engine));
  suite(`${engine.name}: webhooks`, () => webhookContract(used));
  suite(`${engine.name}: events`, () => eventsContract(engine));
  suite(`${engine.name}: parents`, () => parentContract(used));
  suite(`${engine.name}: fields in use`, () => fieldsInUseContract(engine));
  suite(`${engine.name}: values in use`, () => valuesInUseContract(engine));
  suite(`${engine.name}: changes of access`, () => accessChangeContract(used));
  suite(`${engine.name}: keys`, () => keyContract(used));
  suite(`${engine.name}: the history of services`, () => historyContract(engine));
  suite(`${engine.name}: configuration`, () => configureContract(engine));
  suite(`${engine.name}: epochs`, () => epochContract(used));
  suite(`${engine.name}: checks`, () => checkContract(engine));
  suite(`${engine.name}: sound rows`, () => soundRowsContract(engine));
  suite(`${engine.name}: stored settings`, () => storedSettingsContract(engine));
  suite(`${engine.name}: copies`, () => copyContract(engine));
}

/** What every engine must do when records are read. */
export function readingContract(engine: Engine): void {
  const used = withUsualFields(engine);
  suite(`${engine.name}: roles`, () => roleContract(used));
  suite(`${engine.name}: midnight`, () => midnightContract(used));
  suite(`${engine.name}: withheld addresses`, () => withheldContract(used));
  suite(`${engine.name}: counts`, () => countContract(used));
  suite(`${engine.name}: counts of values`, () => facetContract(used));
  suite(`${engine.name}: the search table`, () => searchTableContract(engine));
  suite(`${engine.name}: paging`, () => pagingContract(used));
  suite(`${engine.name}: orders`, () => orderContract(used));
  suite(`${engine.name}: values at the edges`, () => edgeValueContract(used));
  suite(`${engine.name}: lanes`, () => laneContract(used));
  suite(`${engine.name}: agents and offices`, () => linkedContract(engine));
  suite(`${engine.name}: lists`, () => listContract(used));
  suite(`${engine.name}: searches`, () => searchContract(used));
  suite(`${engine.name}: expansions`, () => expansionContract(engine));
  suite(`${engine.name}: native interface`, () => nativeContract(used));
  suite(`${engine.name}: merged collections`, () => mergedContract(used));
  suite(`${engine.name}: served files`, () => fileContract(used));
}

/** Everything that every engine must do. */
export function storeContract(engine: Engine): void {
  writingContract(engine);
  readingContract(engine);
}
