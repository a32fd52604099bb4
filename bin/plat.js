#!/usr/bin/env node
// Starts plat with a Node that is new enough: the one that runs this file, or the one that the package brings.
import { existsSync, mkdirSync, statSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { constants, homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

const NEEDED = 26;
/** What plat itself exits with where a signal reaches it before it can obey. */
const ENDED_BY = { SIGHUP: 143 };
/** Milliseconds within which a signal that arrives twice is one (src/cli/shutdown.ts). */
const TWICE = 50;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const built = join(root, 'dist', 'cli', 'main.js');
const source = join(root, 'src', 'cli', 'main.ts');
// A checkout runs its sources as they are; the published package holds the build alone.
const main = existsSync(source) ? source : built;

// How much memory a command holds (memory.json), which V8 and malloc must know from their start: what is set later reaches
// only threads that start afterwards. A service and a consumer begin anew in the same process for it. What a service reads
// goes out as bytes, so a small young generation costs it nothing. A consumer keeps within its memory, however large the feed
// is. Memory that a thread has given back to its arena of malloc is of no use to the threads of another arena, so that all
// threads share one. V8 lets the heap of a service grow by half, instead of two to four times, before it collects all of it; a
// consumer collects its own between two pages (src/cli/garbage-collector.ts), on the thread that waits for it.
const MEMORY = createRequire(import.meta.url)('./memory.json');
const command = process.argv[2] ?? '';
const { flags = [], arenas: most } = Object.hasOwn(MEMORY, command) ? MEMORY[command] : {};
const arenas = most === undefined ? {} : { MALLOC_ARENA_MAX: most };
const environment = { ...arenas, ...process.env };
// This file again, so that what is compiled is kept there, too.
const rest = [fileURLToPath(import.meta.url), ...process.argv.slice(2)];

if (Number(process.versions.node.split('.')[0]) >= NEEDED) {
  const lacksFlags = flags.some((flag) => !process.execArgv.includes(flag));
  const lacksArenas = environment.MALLOC_ARENA_MAX !== process.env.MALLOC_ARENA_MAX;
  // Whoever holds a channel to this process would lose it.
  const isFree = process.channel === undefined;
  if (isFree && (lacksFlags || lacksArenas))
    become(process.execPath, [...flags, ...process.execArgv, ...rest]);
  keepCompiled();
  // Where it could not begin anew, its threads have them at least.
  if (lacksFlags) for (const flag of flags) setFlagsFromString(flag);
  await import(main);
} else {
  const node = bundledNode();
  if (node === undefined) {
    fail(`plat needs Node ${NEEDED} or newer, and this is ${process.versions.node}. ${remedy()}`);
  }
  // Without a launcher that waits, nothing stands between it and its terminal.
  if (process.channel === undefined) become(node, [...flags, ...rest]);
  await launch(node, [...flags, ...rest]);
}

/**
 * Runs plat with another Node, from one that cannot become it, and ends as that does. A terminal gives a signal to both
 * processes and `kill` to this one alone, so it is told of as a message, and counted there (src/cli/shutdown.ts).
 */
async function launch(node, args) {
  // Loaded by who needs it: every start takes the time of what stands above.
  const { spawn } = await import('node:child_process');
  // The channel ends with this process, however it ends, and the other one with the channel.
  const child = spawn(node, args, { env: environment, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    let last = Number.NEGATIVE_INFINITY;
    process.on(signal, () => {
      // `timeout` sends a signal to this process, and at once to all of its group: that is one.
      const isOne = performance.now() - last < TWICE;
      last = performance.now();
      if (!isOne && child.connected) child.send(signal);
    });
  }
  // A signal to npx ends it and its shell, but reaches neither process here.
  const parent = process.ppid;
  if (process.env.npm_lifecycle_event === 'npx') {
    const look = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(look);
      if (child.connected) child.send('SIGTERM');
    }, 500).unref();
  }
  child.on('error', (error) => fail(`plat cannot start ${node}: ${error.message}`));
  child.on('exit', (code, signal) =>
    process.exit(code ?? ENDED_BY[signal] ?? 128 + constants.signals[signal]),
  );
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

/** Begins anew in the same process, with another Node or other flags, where Node and the system can do that. */
function become(node, args) {
  try {
    process.execve(node, [node, ...args], environment);
  } catch {
    // They cannot: whoever calls this has another way.
  }
}

/**
 * Keeps what was compiled for the next start, which then takes half of the time and a fifth less memory. It is kept where
 * nobody else can write, since it is run; where there is no such place, it is compiled each time.
 */
function keepCompiled() {
  try {
    const { XDG_CACHE_HOME: caches = '', NODE_COMPILE_CACHE: chosen } = process.env;
    if (chosen) return;
    const folder = join(isAbsolute(caches) ? caches : join(homedir(), '.cache'), 'plat');
    // Without a home folder, it would be one of the working directory.
    if (!isAbsolute(folder)) return;
    makeFolder(folder);
    const found = statSync(folder);
    const { uid, mode } = found;
    if (!found.isDirectory()) return;
    if (process.getuid !== undefined && (uid !== process.getuid() || (mode & 0o022) !== 0)) return;
    module.enableCompileCache(folder);
    // Threads look there, too.
    process.env.NODE_COMPILE_CACHE = folder;
  } catch {
    // There is no place for it.
  }
}

/** Makes a folder and those above it, as `makeFolder` in src/store/files/private-file.ts does. */
function makeFolder(path) {
  try {
    mkdirSync(path, 0o700);
  } catch (error) {
    if (error.code === 'EEXIST') return;
    if (error.code !== 'ENOENT' || dirname(path) === path) throw error;
    makeFolder(dirname(path));
    mkdirSync(path, 0o700);
  }
}

/** The program of the npm package `node`, which plat depends on. */
function bundledNode() {
  const folder = packageOfNode();
  if (folder === undefined) return undefined;
  const program = join(folder, 'bin', 'node');
  return [program, `${program}.exe`].find((path) => existsSync(path));
}

/** The folder of the npm package `node`; undefined if it is not installed. */
function packageOfNode() {
  try {
    return dirname(createRequire(import.meta.url).resolve('node/package.json'));
  } catch {
    return undefined;
  }
}

/** What to do if the package `node` has no program. */
function remedy() {
  if (packageOfNode() !== undefined)
    return 'npm has not run the install script that brings it: npm rebuild node --ignore-scripts=false';
  return existsSync(source)
    ? `It comes with the packages, which are not installed: run "npm ci" in ${root}`
    : `Install it beside plat: npm install node@${NEEDED}`;
}
