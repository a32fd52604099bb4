/** The parts of a model that follow from the settings are built once for equal settings. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeModel } from '../../src/compile/model.ts';
import { EMPTY_PROFILE } from '../../src/records/profile.ts';
import { DEFAULT_SETTINGS, readSettings } from '../../src/records/settings.ts';

const modelOf = (text: string, day: string) =>
  makeModel({ generation: 1, epoch: 'e', settings: readSettings(text), profile: EMPTY_PROFILE, day });

const LISTED = JSON.stringify(DEFAULT_SETTINGS);

test('models of equal settings share dictionary and rules; with other settings or on another day they have their own', () => {
  const one = modelOf(LISTED, '2026-01-01');
  const same = modelOf(LISTED, '2026-01-01');
  assert.equal(same.dictionary, one.dictionary);
  assert.equal(same.rules, one.rules);
  const tomorrow = modelOf(LISTED, '2026-01-02');
  assert.equal(tomorrow.dictionary, one.dictionary);
  assert.notEqual(tomorrow.rules, one.rules);
  const replica = modelOf(JSON.stringify({ ...DEFAULT_SETTINGS, owner: 'replica' }), '2026-01-01');
  assert.notEqual(replica.dictionary, one.dictionary);
  assert.notEqual(replica.settings, one.settings);
});

test('the day of a model determines {today}, whichever model was used before', () => {
  const access = {
    roles: [{ name: 'late', classes: 'all', resources: { Property: 'OnMarketDate lt {today}' } }],
    withheld: [],
  };
  const text = JSON.stringify({ ...DEFAULT_SETTINGS, access });
  const filters = ['2026-01-01', '2026-01-02', '2026-01-01'].map((day) =>
    JSON.stringify(modelOf(text, day).rules.rowRules('Property')),
  );
  assert.equal(filters[0], filters[2]);
  assert.match(filters[0] ?? '', /2026-01-01/);
  assert.match(filters[1] ?? '', /2026-01-02/);
});
