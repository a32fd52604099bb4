/** plat started by an older Node, which starts the right one: signals on every path, and exit codes. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { nodesHere, userPath } from '../support/older-nodes.ts';
import { CTRL_C, noTerminal, onTerminal, shellLine } from '../support/pseudo-terminal.ts';
import { environment, PLAT, place } from './run.ts';
import { ANY_PORT } from './serving.ts';

const isWhole = process.env.PLAT_FULL === '1';
const TIMES = isWhole ? 20 : 1;
const SERVE = ['serve', '--store', 's.db', '--log-level', 'silent', ...ANY_PORT];

/** The environment of a user's shell, without the variables of npm. */
const env = (): Record<string, string | undefined> => {
  const kept = Object.entries(environment({ TERM: 'xterm' })).filter(([name]) => !name.startsWith('npm_'));
  return { ...Object.fromEntries(kept), PATH: userPath() };
};

const { nodes, lacking } = nodesHere();
for (const why of lacking) test(why, { skip: why }, () => undefined);

// With the Node of this process, every other test of a command starts plat.
const launchers = isWhole ? nodes : nodes.filter(({ path }) => path !== process.execPath);
if (launchers.length === 0) {
  const why = 'there is no other Node in the path here; npm run test:full gets some from npm';
  test(why, { skip: why }, () => undefined);
}

for (const { version, path } of launchers) {
  test(`Node ${version} as the launcher`, { timeout: 280_000 }, async (t) => {
    const at = place(t);
    await at.done(['key', 'create', '--store', 's.db', '--name', 'n']);
    const start = (...args: readonly string[]) => started(path, [PLAT, ...args], env());
    const started = (program: string, args: readonly string[], variables: ReturnType<typeof env>) => {
      const child = spawn(program, args, { cwd: at.folder, env: variables });
      t.after(() => void child.kill('SIGKILL'));
      const until = new Promise<void>((resolve) => {
        let text = '';
        for (const stream of [child.stdout, child.stderr])
          stream.on('data', (part: Buffer) => {
            text += part;
            if (/^admin .*\n|is a new store/m.test(text)) resolve();
          });
      });
      const ended = new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)));
      return { child, until, ended };
    };

    await t.test(
      `Ctrl-C on a terminal ends a service with 0, ${TIMES} times`,
      { skip: noTerminal },
      async () => {
        const codes: (number | null)[] = [];
        for (let time = 0; time < TIMES; time++) {
          const line = `exec ${shellLine([path, PLAT, ...SERVE])}`;
          const serving = onTerminal(t, line, { folder: at.folder, env: env() });
          await serving.until(/^admin .*\n/m);
          serving.type(CTRL_C);
          codes.push((await serving.ended).code);
        }
        assert.deepEqual(
          codes,
          Array.from({ length: TIMES }, () => 0),
        );
      },
    );

    await t.test(
      'without its own Node, it says how to get it',
      { skip: Number.parseInt(version.slice(1), 10) >= 26 },
      async () => {
        const root = at.path('checkout');
        cpSync(dirname(PLAT), join(root, 'bin'), { recursive: true });
        const says = async (): Promise<string> => {
          const child = spawn(path, [join(root, 'bin', 'plat.js'), 'status']);
          const [said] = await Promise.all([text(child.stderr), once(child, 'exit')]);
          return said.replace(`plat needs Node 26 or newer, and this is ${version.slice(1)}. `, '');
        };
        assert.equal(await says(), 'Install it beside plat: npm install node@26\n');
        mkdirSync(join(root, 'src', 'cli'), { recursive: true });
        writeFileSync(join(root, 'src', 'cli', 'main.ts'), '');
        assert.equal(
          await says(),
          `It comes with the packages, which are not installed: run "npm ci" in ${realpathSync(root)}\n`,
        );
        mkdirSync(join(root, 'node_modules', 'node'), { recursive: true });
        writeFileSync(join(root, 'node_modules', 'node', 'package.json'), '{"name":"node"}');
        assert.equal(
          await says(),
          'npm has not run the install script that brings it: npm rebuild node --ignore-scripts=false\n',
        );
      },
    );

    const npm = isWhole ? noTerminal : 'starts npm; npm run test:full';
    await t.test(`Ctrl-C works as well where npm passes it on, ${TIMES} times`, { skip: npm }, async () => {
      // A shell between them would exit with 130, whatever plat exits with; plat's own scripts have none either.
      at.file(
        'package.json',
        JSON.stringify({ scripts: { serve: `exec ${shellLine([path, PLAT, ...SERVE])}` } }),
      );
      const screens: string[] = [];
      for (let time = 0; time < TIMES; time++) {
        const serving = onTerminal(t, 'exec npm run --silent serve', { folder: at.folder, env: env() });
        await serving.until(/^admin .*\n/m);
        serving.type(CTRL_C);
        const { code, screen } = await serving.ended;
        screens.push(`${code} ${/ended at once/.test(screen) ? screen : ''}`);
      }
      assert.deepEqual(
        screens,
        Array.from({ length: TIMES }, () => '0 '),
      );
    });

    await t.test('a signal from kill reaches the program, and the exit status shows it', async () => {
      const share = [
        [SERVE, 'SIGTERM', 0],
        [['import', '--store', 'i.db', '-'], 'SIGINT', 130],
      ] as const;
      const whole = [
        [SERVE, 'SIGINT', 0],
        [SERVE, 'SIGHUP', 0],
        [['import', '--store', 't.db', '-'], 'SIGTERM', 143],
        [['import', '--store', 'h.db', '-'], 'SIGHUP', 143],
      ] as const;
      for (const [args, signal, code] of isWhole ? [...share, ...whole] : share) {
        const { child, until, ended } = start(...args);
        await until;
        child.kill(signal);
        assert.equal(await ended, code, `${args[0]} ${signal}`);
      }
    });

    await t.test('a signal that arrives several times at once counts once, as from `timeout`', async () => {
      const { child, until, ended } = start(...SERVE);
      await until;
      for (let time = 0; time < 100; time++) {
        child.kill('SIGTERM');
        readFileSync(PLAT); // the system delivers signals that are sent without any pause as one
      }
      assert.equal(await ended, 0);
    });

    await t.test('a service ends with the shell in which npx started it', async () => {
      // The shell stays between them because it has something left to do.
      const line = `${shellLine([path, PLAT, ...SERVE])}; :`;
      const { child, until, ended } = started('sh', ['-c', line], { ...env(), npm_lifecycle_event: 'npx' });
      await until;
      child.kill('SIGKILL');
      // Its output ends when the service has ended as well.
      await ended;
    });

    // A launcher that replaced itself by plat has no child.
    const isInner = existsSync('/proc/self/task') && version.startsWith('v20.');
    const inner = !isInner ? 'it is plat itself' : isWhole ? false : 'npm run test:full';
    await t.test(
      'killing the program ends the launcher with 137, and killing the launcher ends the program',
      { skip: inner },
      async () => {
        const childOf = (pid: number | undefined): number =>
          Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
        const first = start(...SERVE);
        await first.until;
        process.kill(childOf(first.child.pid), 'SIGKILL');
        assert.equal(await first.ended, 137);
        const second = start(...SERVE);
        await second.until;
        second.child.kill('SIGKILL');
        // Its output ends when the program has ended as well.
        await second.ended;
      },
    );
  });
}
