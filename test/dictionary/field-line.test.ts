import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseFieldLine, parseType } from '../../src/dictionary/field-line.ts';

describe('parseType', () => {
  it('parses every type', () => {
    const types: Record<string, ReturnType<typeof parseType>> = {
      string: { type: { kind: 'string' }, collection: false },
      'string(50)': { type: { kind: 'string', maxLength: 50 }, collection: false },
      'string(1024)[]': { type: { kind: 'string', maxLength: 1024 }, collection: true },
      'string[]': { type: { kind: 'string' }, collection: true },
      integer: { type: { kind: 'integer' }, collection: false },
      'integer(4)': { type: { kind: 'integer', digits: 4 }, collection: false },
      'decimal(14,2)': { type: { kind: 'decimal', precision: 14, scale: 2 }, collection: false },
      'decimal(2,2)': { type: { kind: 'decimal', precision: 2, scale: 2 }, collection: false },
      'decimal(9,0)': { type: { kind: 'integer', digits: 9 }, collection: false },
      boolean: { type: { kind: 'boolean' }, collection: false },
      date: { type: { kind: 'date' }, collection: false },
      timestamp: { type: { kind: 'timestamp' }, collection: false },
    };
    for (const [text, type] of Object.entries(types)) assert.deepEqual(parseType(text), type, text);
  });

  it('rejects everything else', () => {
    const others = [
      '',
      'text',
      'String',
      'string()',
      'string(0)',
      'string(-1)',
      'string(50,2)',
      'string(50) []',
      'integer(0)',
      'integer(3)[]',
      'integer(3,1)',
      'decimal',
      'decimal(14)',
      'decimal(0,0)',
      'decimal(2,3)',
      'decimal(14,2)[]',
      'boolean(1)',
      'boolean[]',
      'date[]',
      'timestamp(3)',
    ];
    for (const text of others) assert.equal(parseType(text), undefined, text);
  });
});

describe('parseFieldLine', () => {
  it('parses a field with its lookup and its class', () => {
    assert.deepEqual(parseFieldLine('StandardStatus\tstring(25)\tStandardStatus!\tidx'), {
      kind: 'field',
      name: 'StandardStatus',
      type: { kind: 'string', maxLength: 25 },
      collection: false,
      lookup: 'StandardStatus',
      closedLookup: true,
      class: 'idx',
    });
    assert.deepEqual(parseFieldLine('City\tstring(50)\tCity\taddress'), {
      kind: 'field',
      name: 'City',
      type: { kind: 'string', maxLength: 50 },
      collection: false,
      lookup: 'City',
      closedLookup: false,
      class: 'address',
    });
  });

  it('parses a field of another record', () => {
    assert.deepEqual(
      parseFieldLine('ListAgentFax\tstring(16) <- Member.MemberFax via ListAgentKey\t\tprivate'),
      {
        kind: 'field',
        name: 'ListAgentFax',
        type: { kind: 'string', maxLength: 16 },
        collection: false,
        closedLookup: false,
        class: 'private',
        joined: { link: 'ListAgentKey', resource: 'Member', field: 'MemberFax' },
      },
    );
  });

  it('parses navigations to one and to many', () => {
    assert.deepEqual(parseFieldLine('ListAgent\t-> Member via ListAgentKey'), {
      kind: 'navigation',
      name: 'ListAgent',
      target: 'Member',
      collection: false,
      via: 'ListAgentKey',
    });
    assert.deepEqual(parseFieldLine('Rooms\t-> PropertyRooms[] via ListingKey'), {
      kind: 'navigation',
      name: 'Rooms',
      target: 'PropertyRooms',
      collection: true,
      via: 'ListingKey',
    });
    assert.deepEqual(parseFieldLine('SourceSystem\t-> OUID via SourceSystemID = OrganizationUniqueId'), {
      kind: 'navigation',
      name: 'SourceSystem',
      target: 'OUID',
      collection: false,
      via: 'SourceSystemID',
      remote: 'OrganizationUniqueId',
    });
  });

  it('parses another spelling', () => {
    assert.deepEqual(parseFieldLine('SystemId\t= SystemID'), {
      kind: 'alias',
      name: 'SystemId',
      of: 'SystemID',
    });
  });

  it('quotes the line that it cannot parse', () => {
    const lines = [
      'City',
      'City\tstring(50)\tCity',
      'City\ttext\t\tidx',
      '\tstring(50)\t\tidx',
      'A\t-> B\t\tidx',
    ];
    for (const line of lines) {
      assert.throws(() => parseFieldLine(line), {
        name: 'Error',
        message: `The dictionary line is not "name, type, lookup, class": ${line}`,
      });
    }
  });
});
