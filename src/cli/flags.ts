/** Flags that come from the environment, where every value is a text. */
import type { Command } from 'commander';
import { platError } from '../errors/index.ts';

const YES: ReadonlySet<string> = new Set(['true', '1', 'yes', 'on']);
const NO: ReadonlySet<string> = new Set(['false', '0', 'no', 'off', '']);

/**
 * Reads the flags of a command from the environment: a variable that says no leaves its flag off.
 * @throws PlatError `usage` for a value that is neither
 */
export function readFlags(command: Command, environment: Readonly<Record<string, string | undefined>>): void {
  for (const each of command.options) {
    const { envVar } = each;
    const text = envVar === undefined ? undefined : environment[envVar];
    // The parser of the line takes any value of a flag's variable for a yes.
    if (text === undefined || each.required || each.optional) continue;
    const word = text.trim().toLowerCase();
    if (NO.has(word)) delete each.envVar;
    else if (!YES.has(word))
      throw platError('usage', { reason: `${envVar} is ${JSON.stringify(text)}, but takes true or false.` });
  }
}
