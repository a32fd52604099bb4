/** The lines of docs/first-hour.md and of the README, typed unchanged on a real terminal, one after the other. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { everyCommand, loadProgram } from '../../src/cli/program.ts';
import type { Scope } from '../support/engine.ts';
import { nodesHere, type OtherNode, userPath } from '../support/older-nodes.ts';
import { CTRL_C, noTerminal, type OnTerminal, onTerminal, quoted } from '../support/pseudo-terminal.ts';
import { environment, PLAT, type Place, place } from './run.ts';

const isWhole = process.env.PLAT_FULL === '1';
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const skip =
  noTerminal ||
  (spawnSync('curl', ['--version']).status === 0 ? false : 'there is no curl here, which the lines use');

/** The shell commands in the blocks of a document. @param until the heading at which to stop */
function linesOf(document: string, until?: string): string[] {
  const whole = readFileSync(join(ROOT, document), 'utf8');
  const text = until === undefined ? whole : whole.slice(0, whole.indexOf(`\n## ${until}\n`));
  return [...text.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, block = '']) =>
    block
      .trimEnd()
      .split('\n')
      .map((line) => line.replace(/ +# .*$/, '')),
  );
}

/** Commands that run until they are ended, and the output that shows that they are ready. */
const LASTING: readonly (readonly [line: RegExp, ready: RegExp])[] = [
  [/\bdemo\b/, /\$top=1'\n/],
  [/plat serve\b/, /^admin .*\n/m],
  // A store without a copy is downloaded first; with a current one there is nothing to do.
  [/--watch$/, /resource=Property step=update state=done/],
  [/--watch\b/, /^admin .*\n/m],
];

/** A free port for each one that the documents name. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve) =>
          server.listen(0, '127.0.0.1', () => {
            const address = server.address();
            resolve(typeof address === 'object' && address !== null ? address.port : 0);
          }),
        ),
    ),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

interface Shell extends OnTerminal {
  /** Types a line, and waits until its command has ended. @returns its output and exit code */
  run(line: string): Promise<{ readonly code: number; readonly text: string }>;
}

/** What npm itself writes to a terminal is not part of the output. */
const QUIET_NPM = {
  NO_COLOR: '1',
  npm_config_loglevel: 'error',
  npm_config_progress: 'false',
  npm_config_update_notifier: 'false',
};

const PROMPT = /<<(\d+)>> $/;

/** A shell on a terminal in which `npx` finds plat. @param own whether npx finds it by itself */
async function shell(t: Scope, at: Place, node: OtherNode, own: boolean): Promise<Shell> {
  const path = [dirname(node.path), userPath()].join(':');
  const kept = Object.entries(environment({ TERM: 'xterm' })).filter(([name]) => !name.startsWith('npm_'));
  const env = {
    ...Object.fromEntries(kept),
    PATH: path,
    ENV: '',
    ...QUIET_NPM,
  };
  const on = onTerminal(t, 'exec sh -i', { folder: at.folder, env, columns: 400 });
  on.type("PS1='<<$?>> '\n");
  await on.until(PROMPT);
  const run: Shell['run'] = async (line) => {
    on.type(`${line}\n`);
    const text = await on.until(PROMPT);
    return { code: Number(PROMPT.exec(text)?.[1]), text };
  };
  if (!own) await run(`npx() { shift; ${quoted(node.path)} ${quoted(PLAT)} "$@"; }`);
  return { ...on, run };
}

/** A folder in which `npx plat` is this checkout. */
function withPlat(t: Scope): Place {
  const at = place(t);
  mkdirSync(at.path('node_modules/.bin'), { recursive: true });
  symlinkSync(ROOT, at.path('node_modules/plat'));
  symlinkSync('../plat/bin/plat.js', at.path('node_modules/.bin/plat'));
  at.file('package.json', '{"private":true}');
  return at;
}

/** Sets environment variables for the lines of one terminal. */
type Preparing = (line: string) => readonly string[];

/** Types all lines, and ends running commands with Ctrl-C. @returns the output of each line */
async function typed(
  t: Scope,
  at: Place,
  node: OtherNode,
  lines: readonly string[],
  prepare: Preparing,
): Promise<ReadonlyMap<string, string>> {
  const main = await shell(t, at, node, isWhole);
  const said = new Map<string, string>();
  const lasting: Shell[] = [];
  for (const line of lines) {
    const [, ready] = LASTING.find(([pattern]) => pattern.test(line)) ?? [];
    if (ready === undefined) {
      const { code, text } = await main.run(line);
      assert.equal(code, 0, `${line}: ${text}`);
      said.set(line, text);
      // A value that is shown only once is kept for later lines.
      const [token] = /^plat_\S{40,}$/m.exec(text) ?? [];
      if (token !== undefined) await main.run(`TOKEN=${token}`);
      continue;
    }
    const own = await shell(t, at, node, isWhole);
    for (const each of prepare(line)) await own.run(each);
    // A token that was printed in another terminal is pasted.
    for (const [, name = ''] of line.matchAll(/\$(\w+)/g)) {
      const { text } = await main.run(`echo "$${name}"`);
      await own.run(`${name}=${/^plat_\S+/m.exec(text)?.[0]}`);
    }
    own.type(`${line}\n`);
    said.set(line, await own.until(ready));
    lasting.unshift(own);
  }
  for (const each of lasting) {
    each.type(CTRL_C);
    const code = Number(PROMPT.exec(await each.until(PROMPT))?.[1]);
    // The shell that npx starts exits with 130 itself (docs/commands.md).
    assert.ok(code === 0 || (isWhole && code === 130), `${code}`);
  }
  return said;
}

/** Names of a port for each surface, as environment variables. */
const exported = (ports: readonly number[]): string[] =>
  ['API', 'REPLICATION', 'FLOORPLANS', 'ADMIN'].map(
    (name, index) => `export PLAT_${name}_PORT=${ports[index]}`,
  );

const { nodes, lacking } = nodesHere();
for (const why of lacking) test(why, { skip: why }, () => undefined);

/** `npm test` runs the lines up to the user's own records. The rest takes some seconds. */
const SHARE = 'A replica';

for (const node of isWhole ? nodes : nodes.slice(0, 1)) {
  test(`docs/first-hour.md on Node ${node.version}`, { skip, timeout: 250_000 }, async (t) => {
    const at = withPlat(t);
    const named = ['8080', '8081', '8082', '8083', '8084', '8090', '8091', '8092', '8093'];
    const ports = await freePorts(named.length);
    const here = (line: string): string =>
      named.reduce(
        (text, port, index) => text.replaceAll(new RegExp(`\\b${port}\\b`, 'g'), `${ports[index]}`),
        line,
      );
    const prepare: Preparing = (line) =>
      line.includes('--watch') ? [`export PLAT_ADMIN_PORT=${ports[4]}`] : exported(ports);
    const lines = linesOf('docs/first-hour.md', isWhole ? undefined : SHARE);
    assert.equal(lines[0], 'npm ci');
    const said = await typed(t, at, node, lines.slice(1).map(here), prepare);
    const outputOf = (part: string): string => [...said].find(([line]) => line.includes(part))?.[1] ?? '';
    assert.match(outputOf('--version'), /^\d+\.\d+\.\d+$/m);
    assert.match(outputOf("Property('mine-1')"), /"City":"Fargo","ListPrice":310000/);
    assert.match(outputOf('plat status'), /^Property +52 /m);
    if (!isWhole) return;
    assert.match(outputOf('plat verify'), /^Property +52 +52 +52 +0 +0$/m);
    assert.match(outputOf('$count=true'), /"@odata\.count":\d+/);
    assert.match(outputOf('/ready'), /"ready":true/);
    assert.match(outputOf('grep mine-1'), /"ListingKey":"mine-1"/);
    assert.match(outputOf('plat check'), /nothing is wrong/);
  });

  const readme = isWhole ? skip : 'npm run test:full';
  test(`the lines of the README on Node ${node.version}`, { skip: readme, timeout: 250_000 }, async (t) => {
    const at = withPlat(t);
    // Without its name and program in package.json, npx would install a package of that name here.
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    at.file('package.json', JSON.stringify({ private: true, scripts }));
    symlinkSync(join(ROOT, 'bin'), at.path('bin'));
    at.file('listings.ndjson', [{ ListingKey: 'A', StandardStatus: 'Active', ListPrice: 1 }]);
    at.file('agents.ndjson', [{ MemberKey: 'M', MemberStatus: 'Active' }]);
    const ports = await freePorts(9);
    const prepare: Preparing = (line) => {
      if (line.includes('--watch')) return [`export PLAT_ADMIN_PORT=${ports[8]}`];
      return exported(line.includes('demo') ? ports : ports.slice(4));
    };
    const lines = linesOf('README.md').filter((line) => !line.startsWith('npm ci'));
    // The feed is the service above; its token is for its api port.
    const here = (line: string) => line.replace('https://feed.example.com', `http://127.0.0.1:${ports[4]}`);
    const said = await typed(t, at, node, lines.map(here), prepare);
    assert.ok(said.size >= 6, [...said.keys()].join('\n'));
    assert.equal((await at.exported('replica.db', 'Property')).length, 1);
  });
}

test('every line of docs/first-hour.md that npm test does not run has a valid command and options', async () => {
  for (const line of linesOf('docs/first-hour.md')) {
    const [, words] = /npx plat ((?:[^")]|"[^"]*")+)/.exec(line) ?? [];
    if (words === undefined || words.startsWith('-')) continue;
    const program = await loadProgram();
    const called: string[] = [];
    for (const command of everyCommand(program)) {
      command.configureOutput({ writeErr: (text) => assert.fail(`${line}: ${text}`) });
      if (command.commands.length === 0) command.action(() => void called.push(command.name()));
    }
    const given = [...words.matchAll(/"([^"]*)"|(\S+)/g)].map(
      ([, inQuotes, plain]) => inQuotes ?? plain ?? '',
    );
    await program.parseAsync(given, { from: 'user' });
    assert.equal(called.length, 1, line);
  }
});
