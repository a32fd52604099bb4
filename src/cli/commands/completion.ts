import { Argument, type Command } from 'commander';
import { BUILT_IN_ACCESS } from '../../access/roles.ts';
import { standardDictionary } from '../../dictionary/index.ts';
import { completionScript, SHELLS, type Shell } from '../completion.ts';
import { writeText } from '../terminal.ts';

/** @param every gives the program, its commands and theirs, with all that they take */
export function defineCompletion(completion: Command, every: () => Promise<readonly Command[]>): void {
  completion
    .addArgument(new Argument('<shell>', 'which one reads it').choices(SHELLS))
    .action(async (shell: Shell) => {
      const names = {
        resources: [...standardDictionary().resources.keys()],
        roles: BUILT_IN_ACCESS.roles.map(({ name }) => name),
      };
      writeText(completionScript(shell, await every(), names));
    });
}
