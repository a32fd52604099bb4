/** Runs the curl lines of docs/changes.md in a shell. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { listing } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';

const hasCurl = spawnSync('curl', ['--version']).status === 0;

test(
  'each curl line of docs/changes.md gets the response that the document describes',
  { skip: !hasCurl && 'there is no curl' },
  async (t) => {
    const { key, addresses, write } = await startTestService(t);
    await write('Property', listing('A', { City: 'Rome' }));
    const env: NodeJS.ProcessEnv = {
      ...process.env,
      TOKEN: await key('replication'),
      FEED: addresses.replication,
    };
    const document = readFileSync(new URL('../../../docs/changes.md', import.meta.url), 'utf8');
    const lines = [...document.replaceAll(/\\\n\s*/g, '').matchAll(/^curl .*$/gm)].map(([line]) => line);
    assert.ok(lines.length >= 5, `${lines.length} lines`);
    for (const line of lines) {
      const shell = spawn('sh', ['-c', `exec ${line.replace('curl', 'curl -sS -g -i')}`], { env });
      let out = '';
      shell.stdout.on('data', (part: Buffer) => {
        out += part.toString();
        // A stream has no end.
        if (/"(?:level|key)":/.test(out)) shell.kill();
      });
      await once(shell, 'close');
      assert.match(out, /^HTTP\/1\.1 200 /, `${line}\n${out}`);
      assert.match(out, /"value":\[|^event: position$/m, line);
      // The next line follows this link.
      env.DELTA_LINK = /"@odata\.deltaLink":"([^"]+)"/.exec(out)?.[1] ?? env.DELTA_LINK;
    }
  },
);
