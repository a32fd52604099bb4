/** Help before the first command runs: examples that work, and completion. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import type { Command } from 'commander';
import { EXAMPLES, fullNameOf } from '../../src/cli/help.ts';
import { isRequired } from '../../src/cli/options.ts';
import { everyCommand, loadProgram } from '../../src/cli/program.ts';
import { place } from './run.ts';

const leavesOf = (program: Command): Command[] =>
  [...everyCommand(program)].filter(({ commands }) => commands.length === 0);

/** The words of a line as a shell divides them; what comes before `plat` and after its command belongs to the shell. */
function wordsOf(line: string): string[] {
  const [, own = ''] = /(?:^|[ (])plat (.*?)(?:\)| [|>] ?.*)?$/.exec(line) ?? [];
  return [...own.matchAll(/"([^"]*)"|(\S+)/g)].map(([, inQuotes, plain]) => inQuotes ?? plain ?? '');
}

/** The value of a variable that is set before the command. */
const variablesOf = (line: string): Record<string, string> =>
  Object.fromEntries(
    [...line.matchAll(/^(PLAT_\w+)=(\S+) /g)].map(([, name = '', value = '']) => [name, value]),
  );

test('each command has at least two examples, which have all required options', async () => {
  const names = leavesOf(await loadProgram()).map(fullNameOf);
  assert.deepEqual(Object.keys(EXAMPLES).toSorted(), names.toSorted());
  for (const [name, examples] of Object.entries(EXAMPLES)) {
    assert.equal(new Set(examples.map(([line]) => line)).size, examples.length, name);
    for (const [line] of examples) {
      const program = await loadProgram();
      const called: string[] = [];
      for (const command of leavesOf(program)) {
        command.action(() => void called.push(fullNameOf(command)));
        command.configureOutput({ writeErr: (text) => assert.fail(`${line}: ${text}`) });
      }
      await program.parseAsync(wordsOf(line), { from: 'user' });
      assert.deepEqual(called, [name], line);
      const given = variablesOf(line);
      const [command] = leavesOf(program).filter((each) => fullNameOf(each) === name);
      const lacking = command?.options.filter(
        (each) =>
          isRequired(each) &&
          command.getOptionValue(each.attributeName()) === undefined &&
          given[each.envVar ?? ''] === undefined,
      );
      assert.deepEqual(
        lacking?.map(({ flags }) => flags),
        [],
        line,
      );
    }
  }
});

test('--help shows examples, required options first, and options grouped by topic', async (t) => {
  const at = place(t);
  const help = await at.done(['replicate', '--help']);
  const headings = [...help.matchAll(/^(\S.*:)$/gm)].map(([, heading]) => heading);
  assert.deepEqual(headings, [
    'Required (each also from the environment or plat.config.json):',
    'Token of the source (one of --token, --token-file and --token-url):',
    'Source:',
    'What to do, and when:',
    'Media:',
    'What the source allows:',
    'Addresses:',
    'Store:',
    'General:',
    'Examples:',
  ]);
  assert.match(
    help,
    /^Usage: plat replicate --store <store> --from <url> --interface <interface> \[options\]\n/,
  );
  for (const [line, does] of EXAMPLES.replicate ?? [])
    assert.ok(help.includes(`  # ${does}\n  ${line}\n`), line);
});

test('the list of commands shows the arguments of each, and only commands with a source group options by it', async (t) => {
  const at = place(t);
  assert.match(await at.done(['--help']), /^ {2}completion \[options\] <shell> /m);
  const headings = async (...command: readonly string[]): Promise<(string | undefined)[]> =>
    [...(await at.done([...command, '--help'])).matchAll(/^(\S.*:)$/gm)].slice(1, -1).map(([, each]) => each);
  assert.deepEqual(await headings('webhook', 'create'), ['Options:', 'General:']);
  assert.deepEqual(await headings('delete'), [
    'Required (each also from the environment or plat.config.json):',
    'Options:',
    'Store:',
    'General:',
  ]);
  assert.match(await at.done(['key', 'create', '--help']), /may be repeated \(default: all,/);
});

test('every option of every command is in a group', async () => {
  for (const command of leavesOf(await loadProgram())) {
    const loose = command.options.filter(({ helpGroupHeading }) => helpGroupHeading === undefined);
    assert.deepEqual(
      loose.map(({ flags }) => flags),
      [],
      fullNameOf(command),
    );
  }
});

/** The completions at the end of each line. */
const OFFERED: readonly (readonly [line: string, offered: readonly string[]])[] = [
  ['plat re', ['replicate', 'restamp', 'restore']],
  ['plat key ', ['create', 'list', 'revoke', 'rotate']],
  ['plat key create --ki', ['--kind']],
  ['plat key create --kind ', ['admin', 'api', 'floorplans', 'replication']],
  ['plat key create --role p', ['portal', 'private', 'public']],
  ['plat replicate --interface ', ['native', 'reso']],
  ['plat replicate --resources Property,OpenH', ['Property,OpenHouse']],
  ['plat export --resource OpenH', ['OpenHouse']],
  ['plat import --store m.db l', ['l one.ndjson', 'l.ndjson']],
  ['plat serve --store m', ['m.db']],
  ['plat copy --from m', ['m.db']],
  ['plat replicate --token ', []],
  ['plat verify --sam', ['--sample']],
  ['plat completion ', ['bash', 'fish', 'zsh']],
];

const shellsHere = ['bash', 'zsh', 'fish'].filter((shell) => spawnSync(shell, ['-c', 'true']).status === 0);

for (const shell of ['bash', 'zsh', 'fish']) {
  const skip = shellsHere.includes(shell) ? false : `there is no ${shell} here`;
  test(`plat completion ${shell} is a script that ${shell} reads`, { skip }, async (t) => {
    const at = place(t);
    at.file('script', await at.done(['completion', shell]));
    const run = (...args: readonly string[]) => spawnSync(shell, args, { cwd: at.folder, encoding: 'utf8' });
    const { status, stderr } = run('-n', 'script');
    assert.deepEqual([status, stderr], [0, '']);
    for (const name of ['m.db', 'l.ndjson', 'l one.ndjson']) at.file(name, '');
    if (shell === 'zsh') {
      const loaded = run(
        '-f',
        '-c',
        'autoload -U compinit; compinit -D -u; source ./script; print $_comps[plat]',
      );
      assert.deepEqual([loaded.stdout, loaded.stderr], ['_plat\n', '']);
      return;
    }
    for (const [line, offered] of OFFERED) {
      const asked =
        shell === 'bash'
          ? run('-c', BASH_TAB, 'bash', line)
          : run('--no-config', '-c', `source script; complete -C '${line}'`);
      const got = asked.stdout
        .split('\n')
        .slice(0, -1)
        .map((each) => each.replace(/\t.*/, ''));
      assert.deepEqual(
        got.map((each) => each.replaceAll('\\', '')).toSorted(),
        [...offered],
        `${line}${asked.stderr}`,
      );
    }
  });
}

/** Calls the completion function as bash does, with the words as bash divides them. */
const BASH_TAB = `
source ./script
read -ra COMP_WORDS <<< "$1"
[[ $1 == *' ' ]] && COMP_WORDS+=('')
COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 ))
_plat plat 2>/dev/null
(( \${#COMPREPLY[@]} )) && printf '%s\\n' "\${COMPREPLY[@]}"
`;

test(
  'bash also completes the value after an equals sign, which it treats as a word',
  { skip: shellsHere.includes('bash') ? false : 'there is no bash here' },
  async (t) => {
    const at = place(t);
    at.file('script', await at.done(['completion', 'bash']));
    for (const words of ['plat serve --log-level =', 'plat serve --log-level = w']) {
      const asked = spawnSync('bash', ['-c', BASH_TAB, 'bash', words], { cwd: at.folder, encoding: 'utf8' });
      assert.ok(asked.stdout.split('\n').includes('warn'), `${words}: ${asked.stdout}`);
    }
  },
);

test('an unknown shell is wrong usage', async (t) => {
  const { code, err } = await place(t).run(['completion', 'tcsh']);
  assert.equal(code, 2);
  assert.match(err, /Allowed choices are bash, zsh, fish/);
});
