import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type CsdlSource, csdlDocument } from '../../../src/dictionary/csdl/document.ts';
import { csdlJson } from '../../../src/dictionary/csdl/json.ts';
import { csdlXml } from '../../../src/dictionary/csdl/xml.ts';
import { processorTime } from '../../support/processor-time.ts';
import { sourceOf, viewOf, wholeDictionary } from './fixture.ts';

/** The shortest of several runs, in milliseconds, so that other load does not count. */
function best(make: () => string): number {
  const times = Array.from({ length: 10 }, () => {
    const start = processorTime();
    make();
    return processorTime() - start;
  });
  return Math.min(...times);
}

const fieldsOf = ({ resources }: CsdlSource): number =>
  resources.reduce((count, { fields, navigations }) => count + fields.length + navigations.length, 0);

describe('metadata documents are built quickly', () => {
  it('of the whole dictionary, in 30 ms', () => {
    const source = wholeDictionary();
    assert.ok(fieldsOf(source) >= 1745);
    assert.ok(best(() => csdlXml(csdlDocument(source))) < 30);
    assert.ok(best(() => csdlJson(csdlDocument(source))) < 30);
  });

  it('of what an idx key sees, in 5 ms', () => {
    const source = sourceOf(viewOf('idx'));
    assert.ok(fieldsOf(source) >= 300);
    assert.ok(best(() => csdlXml(csdlDocument(source))) < 5);
    assert.ok(best(() => csdlJson(csdlDocument(source))) < 5);
  });
});
