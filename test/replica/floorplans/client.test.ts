/** Records of a floor plan service that keeps few rules. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { place } from '../../cli/run.ts';
import { json, listen } from '../support/loopback.ts';

test('a record without a key is reported and makes the exit code 1; those before and after it are returned', async (t) => {
  const pages = [
    [{ MediaKey: 'A' }, { MediaKey: null, Order: 1 }],
    [{ Order: 2 }, { Order: 2 }],
    [{ MediaKey: 'B' }],
  ];
  const server = await listen(t, ({ query }) => {
    const skip = Number(query.get('$skip') ?? 0);
    return json({ value: pages[skip / 2] ?? [] });
  });
  const at = place(t);
  const from = ['--from', `${server.origin}/Reso`, '--token', 'secret', '--system', 'S'];
  const { code, out, err } = await at.run(['floorplans', ...from]);
  assert.deepEqual([code, out], [1, '{"MediaKey":"A"}\n{"MediaKey":"B"}\n'], err);
  assert.match(err, /^A record has no MediaKey: \{"MediaKey":null,"Order":1\}$/m);
  assert.match(err, /^2 floor plan records, 2 more without a MediaKey$/m);
});

test('a wrong root is reported with the right one, or with the URLs that were tried', async (t) => {
  const server = await listen(t, ({ url }) =>
    url.startsWith('/plans/Reso/Media?') ? json({ value: [] }) : { status: 404, body: 'Not found' },
  );
  const at = place(t);
  const failing = async (root: string): Promise<string> => {
    const from = ['--from', `${server.origin}${root}`, '--token', 'secret', '--system', 'S'];
    const { code, out, err } = await at.run(['floorplans', ...from]);
    assert.deepEqual([code, out], [root === '' ? 1 : 2, ''], err);
    return err.trimEnd().replaceAll(server.origin, '');
  };
  assert.equal(
    await failing('/plans'),
    'plat: /plans/ is not the root of a service (404); --from /plans/Reso/ is one.',
  );
  assert.equal(
    await failing('/plans/Reso/Media'),
    'plat: /plans/Reso/Media/ is not the root of a service (404); --from /plans/Reso/ is one.',
  );
  assert.equal(
    await failing(''),
    'plat: 404: Not found; there is no floor plan service at /: its root usually ends in /Reso, and none of /Reso/ answers',
  );
});
