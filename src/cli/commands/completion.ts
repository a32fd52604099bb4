/**
 * Completion scripts for shells, generated from the definitions of commands and options, so that a shell does not have to start
 * plat for each completion. This module does not know what the commands do.
 */
import type { Command } from 'commander';
import { BUILT_IN_ACCESS } from '../../access/roles.ts';
import { standardDictionary } from '../../dictionary/index.ts';
import { fullNameOf } from '../help.ts';
import { writeText } from '../terminal.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/**
 * The values that an option or argument accepts: one word of a list, several of them separated by commas, a file, a folder, or any
 * text.
 */
interface AcceptedValues {
  readonly kind: 'word' | 'words' | 'file' | 'folder' | 'text';
  readonly of: readonly string[];
}

/** How a shell completes each kind of values. */
type Actions = Readonly<Record<AcceptedValues['kind'], (of: readonly string[]) => string>>;

const completeBy =
  (actions: Actions) =>
  ({ kind, of }: AcceptedValues): string =>
    actions[kind](of);

interface CompletedOption {
  readonly names: readonly string[];
  readonly does: string;
  /** undefined for a flag. */
  readonly takes: AcceptedValues | undefined;
}

interface CompletedCommand {
  /** The words after `plat`. */
  readonly name: string;
  readonly options: readonly CompletedOption[];
  /** The subcommands of a group, each with its description; empty for a command. */
  readonly commands: readonly (readonly [name: string, does: string])[];
  /** The values of its arguments; undefined if it has none. */
  readonly takes: AcceptedValues | undefined;
}

interface KnownNames {
  readonly resources: readonly string[];
  readonly roles: readonly string[];
}

/** @param every loads the program with all its commands */
export function defineCompletion(completion: Command, every: () => Promise<readonly Command[]>): void {
  for (const argument of completion.registeredArguments) argument.choices(SHELLS);
  completion.action(async (shell: Shell) => {
    const names = {
      resources: [...standardDictionary().resources.keys()],
      roles: BUILT_IN_ACCESS.roles.map(({ name }) => name),
    };
    const commands = (await every()).map((command) => describeCommand(command, names));
    writeText({ bash, zsh, fish }[shell](commands));
  });
}

function describeCommand(command: Command, names: KnownNames): CompletedCommand {
  const [argument] = command.registeredArguments;
  return {
    name: command.parent === null ? '' : fullNameOf(command),
    options: [
      ...command.options.map((each) => ({
        names: [each.short, each.long].filter((name) => name !== undefined && name !== null),
        does: each.description,
        takes:
          each.required || each.optional
            ? acceptedValues(
                each.argChoices,
                /<(\w+)/.exec(each.flags)?.[1] ?? '',
                each.attributeName(),
                names,
              )
            : undefined,
      })),
      { names: ['-h', '--help'], does: 'show what it takes', takes: undefined },
    ],
    commands: command.commands.map((each) => [each.name(), each.description()]),
    takes:
      argument === undefined ? undefined : acceptedValues(argument.argChoices, argument.name(), '', names),
  };
}

/** @param placeholder the word that the help shows in place of a value */
function acceptedValues(
  choices: readonly string[] | undefined,
  placeholder: string,
  attribute: string,
  { resources, roles }: KnownNames,
): AcceptedValues {
  if (choices !== undefined) return { kind: 'word', of: choices };
  if (attribute === 'resource') return { kind: 'word', of: resources };
  if (attribute === 'resources') return { kind: 'words', of: resources };
  if (attribute === 'role') return { kind: 'word', of: roles };
  if (['file', 'store'].includes(placeholder)) return { kind: 'file', of: [] };
  return { kind: placeholder === 'dir' ? 'folder' : 'text', of: [] };
}

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** The branches of a shell `case` statement, without those that have no pattern. */
const cases = (entries: readonly (readonly [patterns: readonly string[], commands: string])[]): string[] =>
  entries
    .filter(([patterns]) => patterns.length > 0)
    .map(([patterns, commands]) => `    ${patterns.map(quoted).join('|')}) ${commands} ;;`);

/** All options with values, as `COMMAND:--option`, grouped by the action that completes them. */
function optionsByAction(commands: readonly CompletedCommand[], act: (takes: AcceptedValues) => string) {
  const groups = new Map<string, string[]>();
  for (const { name, options } of commands) {
    for (const { names, takes } of options) {
      if (takes === undefined) continue;
      const action = act(takes);
      groups.set(action, [...(groups.get(action) ?? []), ...names.map((each) => `${name}:${each}`)]);
    }
  }
  return [...groups].map(([action, patterns]) => [patterns, action] as const);
}

function bash(commands: readonly CompletedCommand[]): string {
  const act = completeBy({
    word: (of) => `_plat_words ${quoted(of.join('\n'))}`,
    words: (of) => `_plat_list ${quoted(of.join('\n'))}`,
    file: () => '_plat_files -f',
    folder: () => '_plat_files -d',
    text: () => 'COMPREPLY=()',
  });
  const first = commands.filter(({ name }) => name !== '');
  return `# Completes the words of plat in bash: source <(plat completion bash)
_plat_words() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$1" -- "$_plat_word"))
}
_plat_list() {
  local IFS=$'\\n' head="\${_plat_word%"\${_plat_word##*,}"}"
  COMPREPLY=($(compgen -P "$head" -W "$1" -- "\${_plat_word##*,}"))
  compopt -o nospace 2>/dev/null
}
_plat_files() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen "$1" -- "$_plat_word"))
  compopt -o filenames 2>/dev/null
}
_plat() {
  local _plat_word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command='' at
  COMPREPLY=()
  # For bash, --option=value is three words.
  if [[ $_plat_word == '=' ]]; then _plat_word=''
  elif [[ $before == '=' && COMP_CWORD -gt 1 ]]; then before="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  for ((at = 1; at < COMP_CWORD; at++)); do
    case "\${command:+$command }\${COMP_WORDS[at]}" in
      ${first.map(({ name }) => quoted(name)).join('|')}) command="\${command:+$command }\${COMP_WORDS[at]}" ;;
    esac
  done
  case "$command:$before" in
${cases(optionsByAction(commands, (takes) => `${act(takes)}; return`)).join('\n')}
  esac
  if [[ $_plat_word == -* ]]; then
    case "$command" in
${cases(commands.map(({ name, options }) => [[name], `_plat_words ${quoted(options.flatMap(({ names }) => names).join('\n'))}`])).join('\n')}
    esac
    return
  fi
  case "$command" in
${cases(
  commands.flatMap(({ name, commands: inner, takes }) => {
    if (inner.length > 0) return [[[name], `_plat_words ${quoted(inner.map(([word]) => word).join('\n'))}`]];
    return takes === undefined ? [] : [[[name], act(takes)]];
  }),
).join('\n')}
  esac
}
complete -F _plat plat
`;
}

function zsh(commands: readonly CompletedCommand[]): string {
  const plain = (text: string): string => text.replaceAll(/[[\]:\\]/g, String.raw`\$&`);
  const act = completeBy({
    word: (of) => `:value:(${of.join(' ')})`,
    words: (of) => `:values:_values -s , value ${of.join(' ')}`,
    file: () => ':file:_files',
    folder: () => ':folder:_files -/',
    text: () => ':value: ',
  });
  const option = ({ names, does, takes }: CompletedOption): string[] =>
    names.map((name) => quoted(`${name}[${plain(does)}]${takes === undefined ? '' : act(takes)}`));
  const functionOf = (name: string): string =>
    ['_plat', ...name.split(' ')].filter((part) => part !== '').join('_');
  const functions = commands.map(({ name, options, commands: inner, takes }) => {
    const rest =
      inner.length > 0
        ? [quoted('1:command:->command'), quoted('*::argument:->argument')]
        : takes === undefined
          ? []
          : [quoted(`*${act(takes)}`)];
    const specifications = [...options.flatMap(option), ...rest].map((each) => `    ${each}`).join(' \\\n');
    const choose = `
  case $state in
    command) local -a commands=(${inner.map(([word, does]) => quoted(`${word}:${plain(does)}`)).join(' ')})
      _describe command commands ;;
    argument) case $words[1] in
${inner.map(([word]) => `      ${word}) ${functionOf(`${name} ${word}`.trim())} ;;`).join('\n')}
    esac ;;
  esac`;
    return `${functionOf(name)}() {
  local curcontext="$curcontext" state line
  typeset -A opt_args
  _arguments -C \\
${specifications}${inner.length > 0 ? choose : ''}
}`;
  });
  return `#compdef plat
# Completes the words of plat in zsh: plat completion zsh > a folder of fpath, as _plat
${functions.join('\n')}
if [ "$funcstack[1]" = _plat ]; then _plat "$@"; else compdef _plat plat; fi
`;
}

function fish(commands: readonly CompletedCommand[]): string {
  const act = completeBy({
    word: (of) => `-x -a ${quoted(of.join(' '))}`,
    words: (of) => `-x -a "(__fish_complete_list , 'printf \\"%s\\\\n\\" ${of.join(' ')}')"`,
    file: () => '-r -F',
    folder: () => "-x -a '(__fish_complete_directories)'",
    text: () => '-x',
  });
  const when = (name: string): string => `-n ${quoted(`__plat_is ${name}`.trim())}`;
  const lines = commands.flatMap(({ name, options, commands: inner, takes }) => [
    ...inner.map(([word, does]) => `complete -c plat ${when(name)} -a ${word} -d ${quoted(does)}`),
    ...(takes === undefined ? [] : [`complete -c plat ${when(name)} ${argumentOf(act(takes))}`]),
    ...options.map(({ names, does, takes: value }) => {
      const flags = names.map((each) =>
        each.startsWith('--') ? `-l ${each.slice(2)}` : `-s ${each.slice(1)}`,
      );
      return `complete -c plat ${when(name)} ${flags.join(' ')} -d ${quoted(does)}${value === undefined ? '' : ` ${act(value)}`}`;
    }),
  ]);
  return `# Completes the words of plat in fish: plat completion fish | source
function __plat_is
    set -l found
    for word in (commandline -opc)[2..-1]
        contains -- "$found $word" ${commands.map(({ name }) => quoted(` ${name}`)).join(' ')}
        and set found "$found $word"
    end
    test "$found" = (test (count $argv) -eq 0; and echo ''; or echo " $argv")
end
complete -c plat -f
${lines.join('\n')}
`;
}

/** The flags -r and -x require a value, which applies to options only. */
const argumentOf = (action: string): string => action.replace(/^-[rx] /, '');
