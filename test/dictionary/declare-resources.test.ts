/** Resources that an operator declares in the configuration. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { declare, type ResourceDeclaration, standardDictionary } from '../../src/dictionary/index.ts';
import { PlatError } from '../../src/errors/index.ts';
import { startTestService } from '../support/service.ts';

const SHOWING: ResourceDeclaration = {
  name: 'Feedback',
  key: 'FeedbackKey',
  fields: [
    { name: 'ListingKey', type: 'string(255)' },
    { name: 'Stars', type: 'integer' },
    { name: 'Tags', type: 'string(50)[]' },
    { name: 'Secret', type: 'string', class: 'private' },
  ],
};
const settings = { declarations: { resources: [SHOWING] } };

const refused = (declaration: Partial<ResourceDeclaration>, message: string): void => {
  const resources = [{ ...SHOWING, ...declaration }];
  assert.throws(
    () => declare(standardDictionary(), { resources }),
    (error) => error instanceof PlatError && error.code === 'usage' && error.message === message,
  );
};

test('a declared resource has its key, its timestamp and its fields', () => {
  const resource = declare(standardDictionary(), settings.declarations).resources.get('Feedback');
  assert.deepEqual(
    [...(resource?.fields.values() ?? [])].map(({ name, type, collection, class: seenBy }) => [
      name,
      type.kind,
      collection,
      seenBy,
    ]),
    [
      ['FeedbackKey', 'string', false, 'open'],
      ['ModificationTimestamp', 'timestamp', false, 'open'],
      ['ListingKey', 'string', false, 'open'],
      ['Stars', 'integer', false, 'open'],
      ['Tags', 'string', true, 'open'],
      ['Secret', 'string', false, 'private'],
    ],
  );
});

test('an invalid resource is rejected with the reason', () => {
  refused(
    { name: 'member' },
    'The resource member: its name must begin with a capital and consist of at most 64 letters and digits.',
  );
  refused({ name: 'ROOM' }, 'The resource ROOM: the name is taken.');
  refused({ key: 'constructor' }, 'The resource Feedback: constructor is not a valid name for a key.');
  refused(
    { key: 'ModificationTimestamp' },
    'The resource Feedback: ModificationTimestamp is not a valid name for a key.',
  );
  refused(
    { fields: [{ name: 'A', type: 'text' }] },
    'The resource Feedback: the type text of A is not known.',
  );
  refused(
    {
      fields: [
        { name: 'A', type: 'string' },
        { name: 'a', type: 'string' },
      ],
    },
    'The resource Feedback: it has the field a twice.',
  );
  refused(
    { fields: [{ name: 'A', type: 'string', lookup: 'Nope' }] },
    'The resource Feedback: there is no lookup Nope.',
  );
  refused(
    { fields: [{ name: 'A', type: 'integer', lookup: 'StandardStatus' }] },
    'The resource Feedback: A is not a string and cannot have a lookup.',
  );
});

test('records of a declared resource are stored, timestamped, filtered and returned like any other, to roles that may read it', async (t) => {
  const service = await startTestService(t, { settings });
  await service.write(
    'Feedback',
    { FeedbackKey: 'f1', ListingKey: '1', Stars: 5, Tags: ['loud'], Secret: 'x' },
    { FeedbackKey: 'f2', ListingKey: '1', Stars: 2 },
  );
  const root = `${service.addresses.api}/Reso/OData`;
  const ask = async (role: string, path: string): Promise<{ status: number; body: unknown }> => {
    const headers = { authorization: `Bearer ${await service.key('api', { role })}` };
    const response = await fetch(`${root}/${path}`, { headers });
    return { status: response.status, body: await response.json() };
  };
  const filter = `$filter=${encodeURIComponent("Stars gt 3 and Tags/any(t:t eq 'loud')")}`;
  assert.deepEqual(await ask('private', `Feedback?${filter}&$select=FeedbackKey,Secret`), {
    status: 200,
    body: {
      '@odata.context': `${root}/$metadata#Feedback(FeedbackKey,Secret)`,
      value: [{ FeedbackKey: 'f1', Secret: 'x' }],
    },
  });
  assert.deepEqual(await ask('idx', 'Feedback'), {
    status: 404,
    body: { error: { code: 'resourceUnknown', message: 'There is no resource Feedback.' } },
  });
});

test('a resource that has held records cannot be removed from the declarations', async (t) => {
  const service = await startTestService(t, { settings });
  await service.write('Feedback', { FeedbackKey: 'f1' });
  await assert.rejects(
    service.store.configure((now) => ({ ...now, declarations: {} })),
    { code: 'usage', message: 'The resource Feedback has held records and stays declared.' },
  );
});
