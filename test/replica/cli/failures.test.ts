/** What a source refuses is reported in one plain line, with exit code 1. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { place } from '../../cli/run.ts';
import { testClock } from '../../support/clock.ts';
import { listings } from '../support/feed.ts';
import { json, type Reply } from '../support/loopback.ts';
import { odataServer } from '../support/odata-server.ts';

const REPLIES: readonly [string, Reply, string][] = [
  ['401', json({ error: { message: 'The key is disabled' } }, { status: 401 }), '401: The key is disabled'],
  [
    '403 with a text of several lines',
    { status: 403, body: 'No.\n\u001b[2J  Not you.\n' },
    '403: No. \\u001b[2J Not you.',
  ],
  [
    'a redirect to another host',
    { status: 302, headers: { location: 'https://elsewhere.example/x' } },
    'The source redirects to https://elsewhere.example, which is not the origin of the token',
  ],
];
for (const [name, reply, message] of REPLIES) {
  for (const command of name === '401' ? ['replicate', 'verify'] : ['replicate']) {
    test(`${command}: ${name} is one line on stderr without a trace, and exit code 1`, async (t) => {
      const clock = testClock(new Date().toISOString());
      const server = await odataServer(t, clock, { Property: listings(2, clock) });
      const at = place(t);
      const options = [
        '--from',
        server.root,
        '--interface',
        'reso',
        '--token',
        'secret',
        '--store',
        'replica.db',
      ];
      if (command === 'verify') await at.done(['replicate', ...options, '--resources', 'Property']);
      server.intercept = () => reply;
      const { code, err } = await at.run([command, ...options]);
      const lines = err.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
      assert.deepEqual([code, lines], [1, [`plat: ${message}`]]);
      // A first contact that fails leaves nothing.
      assert.deepEqual(readdirSync(at.path('.')), command === 'verify' ? ['replica.db'] : []);
    });
  }
}
