/** The X-Plat-View header: it tells a consumer that the rights of its key have changed, which moves no timestamp. */
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

test('X-Plat-View changes with every change of a key’s rights, even one that is reverted', async (t) => {
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
  assert.equal(await view(token, '/v1/standardfields'), first, 'both interfaces have the same tag');
  assert.equal(await view(same), first, 'replacing a key by one with the same rights causes no download');
  assert.notEqual(await view(other), first);
  assert.notEqual(await view(narrow), first);

  const { settings } = await service.store.model();
  await service.store.configure((now) => ({ ...now, timeZone: 'Europe/Berlin' }));
  assert.equal(await view(token), first, 'a setting that is no right does not change the tag');
  await withListings(service, "StandardStatus eq 'Active'");
  const second = await view(token);
  await withListings(service, "StandardStatus eq 'Active'");
  assert.equal(await view(token), second);
  await service.store.configure((now) => ({ ...now, access: settings.access }));
  const third = await view(token);
  assert.equal(new Set([first, second, third]).size, 3);
});
