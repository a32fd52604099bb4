/** What tells a consumer that its key may see other records than before, though no stamp has moved. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestService, type TestService } from '../../support/service.ts';

const withListings = (service: TestService, filter: string) =>
  service.store.configure(({ access, ...settings }) => {
    const roles = access.roles.map((role) =>
      role.name === 'idx' && role.resources !== 'all'
        ? { ...role, resources: { ...role.resources, Property: filter } }
        : role,
    );
    return { ...settings, access: { ...access, roles } };
  });

test('every change of the rights is reported with the lists of fields, even one that is reverted', async (t) => {
  const service = await startTestService(t);
  const [token, same, other, narrow] = await Promise.all([
    service.key('replication', { role: 'idx' }),
    service.key('replication', { role: 'idx' }),
    service.key('replication', { role: 'vow' }),
    service.key('replication', { role: 'idx', systems: ['urn:one'] }),
  ]);
  const view = async (bearer: string, path = '/Reso/OData/$metadata'): Promise<string> => {
    const answer = await fetch(`${service.addresses.replication}${path}`, {
      headers: { authorization: `Bearer ${bearer}` },
    });
    assert.equal(answer.status, 200);
    await answer.text();
    return answer.headers.get('x-plat-view') ?? '';
  };
  const first = await view(token);
  assert.match(first, /^[\w-]{12}$/);
  assert.equal(await view(token, '/v1/standardfields'), first, 'both interfaces tell the same');
  assert.equal(await view(same), first, 'a key in the place of another brings no download');
  assert.notEqual(await view(other), first);
  assert.notEqual(await view(narrow), first);

  const { settings } = await service.store.model();
  await service.store.configure((now) => ({ ...now, timeZone: 'Europe/Berlin' }));
  assert.equal(await view(token), first, 'what has to do with no right is not told');
  await withListings(service, "StandardStatus eq 'Active'");
  const second = await view(token);
  await withListings(service, "StandardStatus eq 'Active'");
  assert.equal(await view(token), second);
  await service.store.configure((now) => ({ ...now, access: settings.access }));
  const third = await view(token);
  assert.equal(new Set([first, second, third]).size, 3);
});
