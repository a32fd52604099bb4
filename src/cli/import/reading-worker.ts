/** The thread that reads the texts of records for an import (reading-thread.ts). */
import { parentPort, workerData } from 'node:worker_threads';
import { type ModelSource, makeModel, type StoreModel } from '../../compile/model.ts';
import { fixedTexts } from '../../compile/text/text-columns.ts';
import { memoizePerObject } from '../../shared/memoize.ts';
import { newFieldsInUse, prepareRecord } from '../../store/write/prepare.ts';
import { type ReadingOptions, readRecordTexts } from './read-records.ts';
import type { RawRecord } from './record-json.ts';
import { packRecords } from './record-transfer.ts';

export interface ReadingRequest {
  readonly resource: string;
  readonly raws: readonly RawRecord[];
  /** The model for parsing the records; absent: the same as in the previous request. */
  readonly model?: Omit<ModelSource, 'settings'> & { readonly settings?: ModelSource['settings'] };
}

const textsBy = memoizePerObject(fixedTexts);
const options: ReadingOptions = workerData;
let settings: ModelSource['settings'] | undefined;
let model: StoreModel | undefined;

parentPort?.on('message', ({ resource, raws, model: given }: ReadingRequest) => {
  settings = given?.settings ?? settings;
  // The same settings object yields the same dictionary, so the thread keeps the object.
  if (given !== undefined && settings !== undefined) model = makeModel({ ...given, settings });
  if (model === undefined) throw new Error('Records are read by a model');
  const by = model;
  const sent = packRecords(readRecordTexts(raws, resource, by, options), by.generation, {
    prepare: (record) => (newFieldsInUse(by, [record]).length === 0 ? prepareRecord(record, by) : undefined),
    textsOf: textsBy(by.layout(resource)),
  });
  parentPort?.postMessage(sent, [sent.records.buffer, sent.texts.buffer]);
});
