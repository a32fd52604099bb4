/**
 * Every command on a real pseudo-terminal: what the screen shows at the end, and after Ctrl-C in the middle, on terminals of several
 * widths and kinds.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { test } from 'node:test';
import { fullNameOf } from '../../src/cli/help.ts';
import { everyCommand, loadProgram } from '../../src/cli/program.ts';
import { hasUtf8Locale } from '../../src/cli/progress.ts';
import { SignalFilter } from '../../src/cli/shutdown.ts';
import { listings } from '../replica/support/feed.ts';
import type { Reply } from '../replica/support/loopback.ts';
import { odataServer } from '../replica/support/odata-server.ts';
import { testClock } from '../support/clock.ts';
import type { Scope } from '../support/engine.ts';
import {
  CTRL_C,
  CTRL_D,
  noTerminal,
  type OnTerminal,
  onTerminal,
  shellLine,
} from '../support/pseudo-terminal.ts';
import { environment, PLAT, type Place, place } from './run.ts';
import { ANY_PORT } from './serving.ts';

interface Look {
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Shell syntax after the command. */
  readonly redirected?: string;
}

interface World {
  readonly at: Place;
  readonly from: readonly string[];
  /** The response of the source that replaces its own. */
  answer: Reply | undefined;
  /** Resolves with the next request. */
  asked(): Promise<void>;
  start(args: readonly string[], look?: Look): OnTerminal;
  /** Runs a command to its end without any key. @returns the screen at the end */
  seen(args: readonly string[], look?: Look): Promise<string>;
}

/** A folder with a store of three listings and related files, and a source with three more. */
async function world(t: Scope): Promise<World> {
  const at = place(t);
  const clock = testClock(new Date().toISOString());
  const source = await odataServer(t, clock, { Property: listings(3, clock), Media: [] });
  let onRequest = (): void => undefined;
  const made: World = {
    at,
    from: ['--from', source.root, '--interface', 'reso', '--token', 'secret', '--resources', 'Property'],
    answer: undefined,
    asked: () => new Promise((resolve) => (onRequest = resolve)),
    start(args, { columns = 80, env = {}, redirected = '' } = {}) {
      const line = `exec ${shellLine([process.execPath, PLAT, ...args])} ${redirected}`;
      return onTerminal(t, line, {
        folder: at.folder,
        env: environment({ TERM: 'xterm-256color', LC_ALL: 'C.UTF-8', ...env }),
        columns,
      });
    },
    async seen(args, look) {
      const { code, screen } = await made.start(args, look).ended;
      assert.equal(code, 0, `${args.join(' ')}: ${screen}`);
      return screen;
    },
  };
  source.intercept = () => {
    onRequest();
    return made.answer;
  };
  at.file('l.ndjson', listings(3, clock));
  await at.done(['import', '--store', 's.db', 'l.ndjson']);
  return made;
}

const skip = noTerminal;
const STORE = ['--store', 's.db'];
const STALLED: Reply = { headers: { 'content-type': 'application/json' }, body: '{', stalls: true };

/** Runs a command, types Ctrl-C in the middle of its work, and returns the screen at the end. */
async function cutShort(running: OnTerminal, middle: Promise<unknown>, code: number): Promise<string> {
  await Promise.race([middle, running.ended]);
  running.type(CTRL_C);
  const ended = await running.ended;
  assert.equal(ended.code, code, ended.screen);
  assert.doesNotMatch(ended.screen, /^ +at |Error:/m);
  return ended.screen;
}

/** Lets the source send another response for a while. */
async function answering<T>(w: World, reply: Reply, work: () => Promise<T>): Promise<T> {
  w.answer = reply;
  try {
    return await work();
  } finally {
    w.answer = undefined;
  }
}

/** The same with a command that waits for a source whose response never ends. */
const cutShortAsking = (w: World, args: readonly string[], code: number): Promise<string> =>
  answering(w, STALLED, () => cutShort(w.start(args), w.asked(), code));

/** A webhook whose receiver does not exist. */
const WEBHOOK = ['webhook', 'create', ...STORE, '--url', 'http://127.0.0.1:9/', '--private-hosts'];

const webhook = async ({ at }: World): Promise<string> =>
  String(JSON.parse(await at.done([...WEBHOOK, '--json'])).id);

type Case = (world: World) => Promise<void>;

/** Every command by its name; those that take a while are also interrupted. */
const CASES: Readonly<Record<string, Case>> = {
  demo: async ({ start }) => {
    const args = ['demo', '--store', 'd.db', '--log-level', 'silent', ...ANY_PORT];
    const making = start([...args, '--listings', '100000']);
    const left = await cutShort(making, making.until(/Making the market \[.*% \d+ records/), 0);
    assert.match(left, /^Making the market \[[█░]{24}\] \d+ % \d+ records \d+\/s \d+:\d\d left$/m);
    const serving = start(['demo', '--store', 'e.db', '--listings', '5', ...args.slice(3)]);
    const text = await cutShort(serving, serving.until(/\$top=1'\n/), 0);
    assert.match(text, /^Making the market \[█{24}\] 100 % \d+ records \d+\/s 0:00 left\n\napi {10}http/m);
  },
  serve: async ({ start }) => {
    const serving = start(['serve', ...STORE, ...ANY_PORT]);
    const screen = await cutShort(serving, serving.until(/^admin .*\n/m), 0);
    assert.match(screen, /^api +http:\/\/127\.0\.0\.1:\d+\/Reso\/OData\//m);
  },
  import: async ({ start, seen, at }) => {
    assert.match(
      await seen(['import', '--store', 'i.db', 'l.ndjson']),
      /^i\.db is a new store: none existed here\nImporting l\.ndjson \[█{24}\] 100 % 3 records \d+\/s 0:00 left\n.*\n.*\nl\.ndjson: Property 3 new, /m,
    );
    const typed = start(['import', '--store', 'i.db', '-']);
    await typed.until(/Importing stdin/);
    typed.type(`${JSON.stringify({ ListingKey: 'typed' })}\n${CTRL_D}`);
    assert.match((await typed.ended).screen, /^stdin: Property 1 new, /m);
    const broken = start(['import', '--store', 'i.db', '-']);
    await cutShort(broken, broken.until(/Importing stdin/), 130);
    assert.equal((await at.exported('i.db', 'Property')).length, 4);
  },
  'key create': async ({ seen }) =>
    assert.match(await seen(['key', 'create', ...STORE, '--name', 'n']), /^plat_[\w-]{43}\n$/),
  'key list': async ({ seen, at }) => {
    await at.done(['key', 'create', ...STORE, '--name', 'listed']);
    assert.match(
      await seen(['key', 'list', ...STORE], { columns: 200 }),
      /^id +name +kind .*\n(.*\n)*\w+ +listed +replication /,
    );
  },
  'key rotate': async ({ seen, at }) => {
    const { id } = JSON.parse(await at.done(['key', 'create', ...STORE, '--name', 'n', '--json']));
    assert.match(await seen(['key', 'rotate', id, ...STORE]), /^plat_[\w-]{43}\n$/);
  },
  'key revoke': async ({ seen, at }) => {
    const { id } = JSON.parse(await at.done(['key', 'create', ...STORE, '--name', 'n', '--json']));
    assert.match(await seen(['key', 'revoke', id, ...STORE]), new RegExp(id));
  },
  status: async ({ seen }) =>
    assert.match(await seen(['status', ...STORE]), /^resource +records .*\nProperty +3 /m),
  changes: async ({ seen }) =>
    assert.match(
      await seen(['changes', ...STORE, '--resources', 'Property']),
      /^\{"sequence":\d+,"resource":"Property"/m,
    ),
  export: async ({ seen, at }) => {
    assert.match(await seen(['export', ...STORE, '--resource', 'Property']), /^\{"ListingKey":"1001"/);
    await seen(['export', ...STORE, '--resource', 'Property', '--out', 'o.ndjson']);
    assert.equal(readFileSync(at.path('o.ndjson'), 'utf8').split('\n').length, 4);
  },
  delete: async ({ seen }) => {
    await seen(['import', '--store', 'del.db', 'l.ndjson']);
    const screen = await seen(['delete', '--store', 'del.db', '--resource', 'Property', '1001']);
    assert.equal(screen, 'deleted 1 Property, 0 children\n');
  },
  backup: async ({ seen }) =>
    assert.match(
      await seen(['backup', ...STORE, 'b.db']),
      /^Checking b\.db \[█+\] 100 % \d+ rows, \w+ \d+\/s 0:00 left\nb\.db is a copy of s\.db\n$/,
    ),
  restore: async ({ seen, at }) => {
    await at.done(['backup', ...STORE, 'b2.db']);
    assert.match(
      await seen(['restore', '--store', 'r.db', 'b2.db']),
      /^Checking b2\.db \[█+\] 100 % .*\/s 0:00 left\nr\.db is what b2\.db was: 3 Property, /,
    );
  },
  check: async ({ seen }) =>
    assert.match(
      await seen(['check', ...STORE]),
      /^Checking s\.db \[█+\] 100 % \d+ rows, \w+ \d+\/s 0:00 left\ns\.db: nothing is wrong, \d+ rows read\n$/,
    ),
  copy: async ({ seen }) =>
    assert.match(
      await seen(['copy', '--from', 's.db', '--to', 'c.db']),
      /^Copying s\.db .*\nc\.db is the same as s\.db: \d+ rows/,
    ),
  restamp: async ({ seen }) =>
    assert.equal(
      await seen(['restamp', ...STORE]),
      'Bringing timestamps of s.db back\nno timestamp is ahead of the clock\n',
    ),
  replicate: async (w) => {
    const once = ['replicate', ...w.from, '--store', 'copy.db'];
    const screen = await w.seen(once);
    assert.match(screen, /^end +result=done$/m);
    const left = await cutShortAsking(w, [...once, '--once', '--step', 'update'], 130);
    assert.match(left, /^\^C\nend +result=stopped$/m);
    await cutShortAsking(w, [...once, '--watch', '--admin-port', '0'], 0);
  },
  verify: async (w) => {
    const args = ['verify', ...w.from, '--store', 'v.db'];
    await w.at.done(['replicate', ...w.from, '--store', 'v.db']);
    assert.match(
      await w.seen(args),
      /^Verifying \[█+\] 100 % \d+ \w+ of the copy \d+\/s 0:00 left\nresource +at the source .*\nProperty +3 +3 +3 +0 +0\n$/,
    );
    assert.match(
      await cutShortAsking(w, args, 130),
      /^plat: The verification was interrupted and has no result\.$/m,
    );
  },
  'quarantine list': async ({ seen }) =>
    assert.equal(await seen(['quarantine', 'list', ...STORE]), 'The quarantine is empty.\n'),
  'quarantine retry': async ({ seen }) =>
    assert.match(await seen(['quarantine', 'retry', ...STORE]), /^0 stored, 0 gone at the source, /),
  'webhook create': async ({ seen }) => {
    const screen = await seen(WEBHOOK, { columns: 200 });
    assert.match(screen, /^whsec_\S+\n\S+ receives changes from now on\. /m);
  },
  'webhook list': async (w) => {
    const id = await webhook(w);
    const screen = await w.seen(['webhook', 'list', ...STORE], { columns: 200 });
    assert.match(screen, new RegExp(`^id +url +role .*\n(.*\n)*${id} +http://127`));
  },
  'webhook test': async (w) => {
    const { code, screen } = await w.start(['webhook', 'test', await webhook(w), ...STORE]).ended;
    assert.equal(code, 1);
    assert.match(screen, /^plat: \S+ has not accepted the message: /m);
  },
  'webhook pause': async (w) => {
    const id = await webhook(w);
    assert.equal(await w.seen(['webhook', 'pause', id, ...STORE]), `${id} is paused\n`);
  },
  'webhook resume': async (w) => {
    const id = await webhook(w);
    assert.equal(await w.seen(['webhook', 'resume', id, ...STORE]), `${id} is resumed\n`);
  },
  'webhook rotate': async (w) =>
    assert.match(await w.seen(['webhook', 'rotate', await webhook(w), ...STORE]), /^whsec_\S+\n$/),
  'webhook replay': async (w) => {
    const id = await webhook(w);
    const screen = await w.seen(['webhook', 'replay', id, '--since', 'start', ...STORE]);
    assert.equal(screen, `${id} delivers the changes since start\n`);
  },
  'webhook delete': async (w) => {
    const id = await webhook(w);
    assert.equal(await w.seen(['webhook', 'delete', id, ...STORE]), `${id} is deleted\n`);
  },
  completion: async ({ seen }) =>
    assert.match(await seen(['completion', 'bash']), /^complete -F _plat plat$/m),
  floorplans: async (w) => {
    const args = ['floorplans', ...w.from.slice(0, 2), '--token', 'secret', '--system', 'M1'];
    await answering(w, { headers: { 'content-type': 'application/json' }, body: '{"value":[]}' }, async () =>
      assert.match(await w.seen(args), /0 floor plan records\n$/),
    );
    await cutShortAsking(w, args, 130);
  },
};

const isWhole = process.env.PLAT_FULL === '1';
test('every command has a case on a terminal', async () => {
  const leaves = [...everyCommand(await loadProgram())].filter(({ commands }) => commands.length === 0);
  assert.deepEqual(Object.keys(CASES).toSorted(), leaves.map(fullNameOf).toSorted());
});

// The cases below and first-hour.test.ts run in `npm test`: the others take forty processes.
test(
  'every command on a terminal',
  { skip: isWhole ? skip : 'npm run test:full', timeout: 250_000 },
  async (t) => {
    const shared = await world(t);
    for (const [name, run] of Object.entries(CASES)) await t.test(name, () => run(shared));
  },
);

test('terminals of several kinds', { skip, timeout: 120_000 }, async (t) => {
  const shared = await world(t);
  const { at, start, seen } = shared;
  const demo = ['demo', '--listings', '100000', '--log-level', 'silent', ...ANY_PORT];

  await t.test('a line of progress fits a narrow terminal, and one that becomes narrower', async () => {
    const running = start([...demo, '--store', 'narrow.db'], { columns: 72 });
    await running.until(/Making the market \[[█░]{8}\] \d+ % \d+ records \d+\/s \d+:\d\d left/);
    running.resize(40);
    const screen = await cutShort(running, running.until(/Making the market \d+ % \d+:\d\d left/), 0);
    assert.match(screen, /^Making the market \d+ % \d+:\d\d left$/m);
    at.file('日本日本日本日本日本日本日本日本.ndjson', []);
    const wide = await seen(['import', ...STORE, '日本日本日本日本日本日本日本日本.ndjson'], { columns: 30 });
    assert.match(wide, /^Importing 日本日本日本日本日…$/m);
  });

  await t.test('a terminal whose locale is not UTF-8 gets a bar of ASCII', async () => {
    at.file('a.ndjson', [{ ListingKey: '1' }]);
    const ascii = await seen(['import', ...STORE, 'a.ndjson'], { env: { LC_ALL: 'de_DE.ISO-8859-1' } });
    assert.match(ascii, /^Importing a\.ndjson \[#{24}\] 100 % 1 records/m);
    assert.equal(hasUtf8Locale({ LC_ALL: '', LANG: 'en_US.UTF-8' }), true);
    assert.equal(hasUtf8Locale({ LC_CTYPE: 'C', LANG: 'en_US.UTF-8' }), false);
    assert.equal(hasUtf8Locale({}), true);
  });

  await t.test('Ctrl-C while nothing comes from the terminal ends an import', async () => {
    const broken = start(['import', '--store', 'i.db', '-']);
    await cutShort(broken, broken.until(/Importing stdin/), 130);
  });

  await t.test('a terminal that cannot overwrite a line gets no progress', async () => {
    for (const TERM of ['dumb', '']) {
      const ended = await start(['check', ...STORE], { env: { TERM } }).ended;
      assert.match(ended.text, /^s\.db: nothing is wrong, \d+ rows read\r\n$/);
    }
  });

  await t.test('results go to a file, and progress stays on the screen', async () => {
    assert.match(
      await seen(['check', ...STORE], { redirected: '> out.txt' }),
      /^Checking s\.db \[█+\] 100 % .*\/s 0:00 left\n$/,
    );
    assert.match(readFileSync(at.path('out.txt'), 'utf8'), /^s\.db: nothing is wrong, \d+ rows read\n$/);
  });

  await t.test(
    'output has no colors, with NO_COLOR or with FORCE_COLOR',
    { skip: isWhole ? false : 'npm run test:full' },
    async () => {
      const plain = await start(['--help'], { env: { NO_COLOR: '1' } }).ended;
      const colored = await start(['--help'], { env: { FORCE_COLOR: '3', COLORTERM: 'truecolor' } }).ended;
      assert.equal(plain.text, colored.text);
      assert.ok(!plain.text.includes('\u001b'));
    },
  );
});

test(
  'a second Ctrl-C, and closing the window',
  { skip: isWhole ? skip : 'npm run test:full', timeout: 120_000 },
  async (t) => {
    const { at, start } = await world(t);
    const serve = ['serve', ...STORE, '--log-level', 'silent', ...ANY_PORT];

    await t.test(
      'a second Ctrl-C ends a service at once, with a message',
      { skip: isWhole ? false : 'waits a second' },
      async () => {
        const token = (await at.done(['key', 'create', ...STORE, '--name', 'n', '--kind', 'api'])).trim();
        const serving = start(serve);
        const [, port] = /^api +http:..127\.0\.0\.1:(\d+)/m.exec(await serving.until(/^admin .*\n/m)) ?? [];
        // A request that does not end keeps the service running for a while.
        const socket = connect(Number(port), '127.0.0.1');
        t.after(() => socket.destroy());
        socket.on('error', () => undefined);
        const head = `Host: a\r\nAuthorization: Bearer ${token}\r\nContent-Type: text/plain\r\nContent-Length: 9\r\nExpect: 100-continue\r\n`;
        socket.write(`POST /Reso/OData/Property/$query HTTP/1.1\r\n${head}\r\n`);
        await once(socket, 'data');
        serving.type(CTRL_C);
        await serving.until(/^plat: ending; a second SIGINT ends it at once$/m);
        serving.type(CTRL_C);
        const { code, screen } = await serving.ended;
        assert.equal(code, 130);
        assert.match(screen, /\^C\nplat: ended at once, by a second SIGINT; committed data is kept\n$/);
      },
    );

    await t.test('closing the window ends a service cleanly', async () => {
      execFileSync('mkfifo', [at.path('code')]);
      // As an interactive shell does: it reports to its jobs that the terminal is gone.
      const job = `${shellLine([process.execPath, PLAT, ...serve])} & job=$!; trap 'kill -HUP $job' HUP`;
      const line = `${job}; wait $job; wait $job; echo $? > code`;
      const serving = onTerminal(t, line, { folder: at.folder, env: environment({ TERM: 'xterm' }) });
      await serving.until(/^admin .*\n/m);
      const code = readFile(at.path('code'), 'utf8');
      serving.close();
      assert.equal(await code, '0\n');
    });
  },
);

test('one press of Ctrl-C counts once, whichever processes pass it on', () => {
  const direct = new SignalFilter(0);
  assert.deepEqual(
    [
      direct.isNew('here', 0),
      direct.isNew('launcher', 900),
      direct.isNew('here', 900),
      direct.isNew('launcher', 901),
    ],
    [true, false, true, false],
    'a terminal sends it to both',
  );
  const killed = new SignalFilter(0);
  assert.deepEqual(
    [killed.isNew('launcher', 0), killed.isNew('launcher', 1)],
    [true, true],
    'kill sends it to one',
  );
  const byTimeout = new SignalFilter(50);
  assert.deepEqual(
    [byTimeout.isNew('here', 0), byTimeout.isNew('here', 1), byTimeout.isNew('here', 100)],
    [true, false, true],
    'timeout sends it to the process and to its group',
  );
  const byNpm = new SignalFilter(300);
  assert.deepEqual(
    [byNpm.isNew('here', 0), byNpm.isNew('here', 299), byNpm.isNew('here', 600), byNpm.isNew('here', 601)],
    [true, false, true, false],
    'npm passes it on',
  );
});
