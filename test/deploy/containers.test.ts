/** The image and `compose.yaml` of `deploy/`: the commands, options and files that they name exist, and the image's steps work. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join, matchesGlob } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { DOCUMENTS } from '../../src/service/front/paths.ts';
import { freePort } from '../support/free-port.ts';
import { type Line, wrongWith } from './options.ts';
import { DEPLOY, deployed } from './tools.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** The instructions of a Dockerfile, by stage. */
function stagesOf(
  dockerfile: string,
): { readonly name: string; readonly base: string; readonly steps: Instruction[] }[] {
  const stages: { name: string; base: string; steps: Instruction[] }[] = [];
  const lines = dockerfile
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n/g, ' ')
    .split('\n');
  for (const line of lines.filter((each) => each.trim() !== '')) {
    const [, name = '', text = ''] = /^(\w+) (.*)$/.exec(line) ?? assert.fail(line);
    if (name === 'FROM') {
      const [base = '', , as = ''] = text.split(' ');
      stages.push({ name: as, base, steps: [] });
    } else stages.at(-1)?.steps.push({ name, text });
  }
  return stages;
}

const stages = stagesOf(deployed('Dockerfile'));
const [build, image] = stages;
if (build === undefined || image === undefined || stages.length !== 2)
  throw new Error('two stages are expected');

/** The texts of all instructions with a name. */
const textsOf = (steps: readonly Instruction[], name: string): string[] =>
  steps.filter((step) => step.name === name).map(({ text }) => text);
const listed = (text: string | undefined): string[] => JSON.parse(text ?? '[]');

/** The sources and the target of a COPY. */
function copied(text: string): {
  readonly from: string | undefined;
  readonly sources: string[];
  readonly to: string;
} {
  const words = text.split(' ');
  const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length);
  const paths = words.filter((word) => !word.startsWith('--'));
  return { from, sources: paths.slice(0, -1), to: paths.at(-1) ?? '' };
}

const environmentOf = (steps: readonly Instruction[]): Record<string, string> =>
  Object.fromEntries(
    textsOf(steps, 'ENV').flatMap((text) => text.split(' ').map((pair) => pair.split(/=(.*)/s, 2))),
  );

test('the image copies existing files that .dockerignore allows, has a non-root user, and starts a valid command', () => {
  const rules = deployed('Dockerfile.dockerignore')
    .split('\n')
    .filter((line) => /^[!*\w]/.test(line));
  assert.equal(rules[0], '*');
  const allowed = rules.slice(1).map((line) => line.replace(/^!/, ''));
  const sources = stages.flatMap(({ steps }) =>
    textsOf(steps, 'COPY')
      .map(copied)
      .flatMap(({ from, sources }) => (from === undefined ? sources : [])),
  );
  // The workspaces that npm ci links, and the scripts that the build runs.
  const { workspaces }: { workspaces: string[] } = JSON.parse(
    readFileSync(join(ROOT, 'package.json'), 'utf8'),
  );
  const build = readFileSync(join(ROOT, 'scripts/build.ts'), 'utf8');
  const scripts = [...build.matchAll(/'(scripts\/[\w.-]+)'/g)].map(([, script = '']) => script);
  for (const path of [...workspaces, ...scripts]) {
    assert.ok(
      sources.some((source) => path === source || matchesGlob(path, `${source}/**`)),
      `the image is built without ${path}`,
    );
  }
  for (const path of sources) {
    assert.ok(existsSync(join(ROOT, path)), path);
    assert.ok(allowed.includes(path), `${path} is excluded by .dockerignore`);
  }
  assert.deepEqual(
    allowed.toSorted(),
    [...new Set(sources)].toSorted(),
    '.dockerignore allows only what is needed',
  );
  const given = textsOf(image.steps, 'COPY').flatMap((text) => copied(text).sources);
  for (const each of DOCUMENTS) {
    assert.ok(
      given.some((path) => matchesGlob(`docs/${each}`, `${path}/**`)),
      `the image lacks docs/${each}, which the service shows`,
    );
  }
  const users = textsOf(image.steps, 'USER');
  assert.deepEqual(users, ['node']);
  const environment = environmentOf(image.steps);
  const command = listed(textsOf(image.steps, 'CMD')[0]);
  assert.deepEqual(wrongWith({ args: command, environment }), []);
  const [, needed] = /const NEEDED = (\d+);/.exec(readFileSync(join(ROOT, 'bin/plat.js'), 'utf8')) ?? [];
  assert.equal(image.base.replace(/^node:(\d+)-.*/, '$1'), needed);
});

interface Service {
  readonly image?: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly healthcheck?: { readonly test?: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

test('compose.yaml names existing commands, options, files, volumes, ports and hosts', () => {
  const compose: Compose = parse(deployed('compose.yaml'), { merge: true });
  const services = Object.entries(compose.services);
  const own = services.filter(([, { image: name }]) => name === 'plat');
  assert.deepEqual(
    own.map(([name]) => name),
    ['store', 'plat', 'replica', 'replica-service'],
  );
  for (const [name, { command = [], environment = {}, build: built, ports = [] }] of own) {
    const line: Line = { args: command, environment: { ...environmentOfCommand(command), ...environment } };
    assert.deepEqual(wrongWith(line), [], name);
    assert.ok(existsSync(join(DEPLOY, built?.context ?? '', built?.dockerfile ?? '')));
    // The admin port is not published: only Prometheus uses it.
    for (const port of ports) assert.match(port, /^127\.0\.0\.1:\d+:808[012]$/);
  }
  for (const [name, { volumes = [], depends_on: needs = {}, healthcheck }] of services) {
    for (const volume of volumes) {
      const [from = ''] = volume.split(':');
      assert.ok(
        from.startsWith('.') ? existsSync(join(DEPLOY, from)) : from in compose.volumes,
        `${name}: ${from}`,
      );
    }
    for (const [needed, { condition }] of Object.entries(needs)) {
      const service = compose.services[needed];
      assert.ok(service !== undefined, `${name} needs ${needed}`);
      if (condition === 'service_healthy') assert.ok(service.healthcheck?.test !== undefined, needed);
    }
    if (healthcheck?.test?.includes('node')) assert.equal(healthcheck.test[2], '/opt/plat/health.js');
  }
  const prometheus: { scrape_configs: { static_configs: { targets: string[] }[] }[] } = parse(
    deployed('prometheus.yml'),
  );
  const targets = prometheus.scrape_configs.flatMap((each) =>
    each.static_configs.flatMap((one) => one.targets),
  );
  for (const target of targets) {
    const [host = '', port] = target.split(':');
    const service = compose.services[host];
    assert.ok(service !== undefined, target);
    assert.equal(service.environment?.PLAT_ADMIN_HOST, '0.0.0.0');
    assert.equal(service.environment?.PLAT_ADMIN_PORT ?? '8083', port);
  }
  assert.equal(new URL(compose.services.replica?.environment?.PLAT_FROM ?? '').host, 'plat:8081');
  const variables = new Set([...deployed('compose.yaml').matchAll(/\$\{(\w+)/g)].map(([, name]) => name));
  const examples = [...deployed('compose.env').matchAll(/^(\w+)=/gm)].map(([, name]) => name);
  assert.deepEqual([...variables].toSorted(), examples.toSorted());
});

/** The environment of the image, limited to the options of a command. */
const environmentOfCommand = (command: readonly string[]): Record<string, string> => {
  const own = environmentOf(image.steps);
  return Object.fromEntries(
    Object.entries(own).filter(([name, value]) =>
      wrongWith({ args: command, environment: { [name]: value } }).every(
        (why) => !why.includes(`no ${name}`),
      ),
    ),
  );
};

test('the environment files of deploy/ contain valid options of their commands', () => {
  const environment = (name: string): Record<string, string> =>
    Object.fromEntries(
      [...deployed(name).matchAll(/^(?:# )?(PLAT_\w+)=(.*)$/gm)].map(([, variable = '', value = '']) => [
        variable,
        value,
      ]),
    );
  assert.deepEqual(wrongWith({ args: ['serve'], environment: environment('plat.env') }), []);
  assert.deepEqual(
    wrongWith({ args: ['replicate', '--watch'], environment: environment('replicate.env') }),
    [],
  );
  assert.deepEqual(
    wrongWith({ args: ['serve', '--stoer', 'x'], environment: { PLAT_STORE: 'x', PLAT_POST: '1' } }),
    ['serve has no --stoer', 'serve has no PLAT_POST'],
  );
});

test('the command lines in docs/deploy.md are valid, and its table lists every alert', () => {
  const document = readFileSync(join(ROOT, 'docs/deploy.md'), 'utf8');
  const blocks = [...document.matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block);
  const lines = [
    ...blocks.join('\n').matchAll(/(?:\bplat|plat\.js) ((?:import|key|backup|restore|serve)\b[^#\n<]*)/g),
  ];
  assert.ok(lines.length > 10);
  for (const name of ['package.json', 'packages/demo/package.json']) {
    const manifest = JSON.parse(readFileSync(join(ROOT, name), 'utf8'));
    const archive = ` ./${manifest.name}-${manifest.version}.tgz `;
    assert.ok(document.includes(archive), `the archive${archive}is installed`);
  }
  for (const [line, rest = ''] of lines) {
    const args = rest
      .replaceAll(/"[^"]*"/g, 'text')
      .trim()
      .split(/\s+/);
    // In a container, the image sets the store.
    const environment = { PLAT_STORE: 'x' };
    assert.deepEqual(wrongWith({ args, environment }), [], line);
  }
  const rules: { groups: { rules: { alert: string }[] }[] } = parse(deployed('alerts.yml'));
  assert.deepEqual(
    [...document.matchAll(/^\| `(Plat\w+)` \|/gm)].map(([, name]) => name),
    rules.groups.flatMap((group) => group.rules.map(({ alert }) => alert)),
  );
});

const skip = process.env.PLAT_FULL === '1' ? false : 'installs packages; npm run test:full';

test('the steps of the image, run in a clean folder, produce a healthy service', { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'plat-image-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const node = process.execPath;
  // As on the base image: one Node.js, and nothing of this checkout.
  const paths = (process.env.PATH ?? '').split(delimiter).filter((each) => !each.includes('node_modules'));
  const kept = Object.entries(process.env).filter(([name]) => !/^(npm_|PLAT_)|^NODE_(?!EXTRA)/.test(name));
  const clean = { ...Object.fromEntries(kept), PATH: [dirname(node), ...paths].join(delimiter) };
  const context = join(folder, 'context');
  // The files of a clone that .dockerignore allows.
  const files = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).trimEnd().split('\n');
  const allowed = deployed('Dockerfile.dockerignore')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1));
  for (const file of files.filter((each) =>
    allowed.some((path) => each === path || matchesGlob(each, `${path}/**`)),
  )) {
    cpSync(join(ROOT, file), join(context, file));
  }
  let place = '/';
  const at = (stage: string, path: string): string =>
    join(folder, stage === '' ? 'image' : stage, path.startsWith('/') ? path : join(place, path));
  for (const { name: stage, steps } of stages) {
    place = '/';
    for (const { name, text } of steps) {
      if (name === 'WORKDIR') {
        place = text;
        mkdirSync(at(stage, place), { recursive: true });
      } else if (name === 'COPY') {
        const { from, sources, to } = copied(text);
        for (const source of sources) {
          const path = from === undefined ? join(context, source) : join(folder, from, source);
          const target = to.endsWith('/') ? join(at(stage, to), basename(source)) : at(stage, to);
          cpSync(path, target, { recursive: true, verbatimSymlinks: true });
        }
      } else if (name === 'RUN' && !text.startsWith('mkdir -p /data')) {
        execFileSync('sh', ['-c', text], { cwd: at(stage, place), env: clean, stdio: 'pipe' });
      }
    }
  }
  const root = join(folder, 'image/opt/plat');
  assert.deepEqual(readdirSync(root).toSorted(), [
    'LICENSE',
    'bin',
    'dist',
    'docs',
    'health.js',
    'node_modules',
    'package.json',
    'plat.config.schema.json',
  ]);
  assert.ok(existsSync(join(root, 'dist/console/index.html')), 'the image lacks the console');
  const binaries = globSync('node_modules/**/*', { cwd: root }).filter(
    (each) => statSync(join(root, each)).size > 20_000_000,
  );
  assert.deepEqual(binaries, [], 'the image contains a second Node.js');

  const [program = '', ...entry] = listed(textsOf(image.steps, 'ENTRYPOINT')[0]).map((word) =>
    word.replace('/opt/plat', root),
  );
  assert.equal(program, 'node');
  const environment = { ...environmentOf(image.steps), PLAT_STORE: join(folder, 'market.db'), ...clean };
  execFileSync(node, [...entry, 'import', '-'], { env: environment, input: '' });
  const ports = await Promise.all(
    ['API', 'REPLICATION', 'FLOORPLANS', 'ADMIN'].map(async (name) => [
      `PLAT_${name}_PORT`,
      String(await freePort()),
    ]),
  );
  const env = { ...environment, PLAT_HOST: '127.0.0.1', ...Object.fromEntries(ports) };
  const serving = spawn(node, [...entry, ...listed(textsOf(image.steps, 'CMD')[0])], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => serving.kill('SIGKILL'));
  await new Promise((resolve) =>
    serving.stdout.on('data', (part: Buffer) => String(part).includes('admin') && resolve(undefined)),
  );
  const [health = ''] = textsOf(image.steps, 'HEALTHCHECK');
  const [, script = '', ...args] = listed(health.replace(/^.*CMD /, '')).map((word) =>
    word.replace('/opt/plat', root),
  );
  assert.equal(execFileSync(node, [script, ...args], { env, encoding: 'utf8' }), '{"live":true}');
  assert.equal(execFileSync(node, [script, '/ready'], { env, encoding: 'utf8' }), '{"ready":true}');
  const document = await fetch(`http://127.0.0.1:${env.PLAT_API_PORT}/documents/${DOCUMENTS[0]}`);
  assert.equal(document.status, 200);
  const ended = new Promise((resolve) => serving.on('exit', resolve));
  serving.kill(textsOf(image.steps, 'STOPSIGNAL')[0] === 'SIGTERM' ? 'SIGTERM' : 'SIGKILL');
  assert.equal(await ended, 0);
  assert.throws(() => execFileSync(node, [script, ...args], { env, stdio: 'pipe' }));
});
