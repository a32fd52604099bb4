import { expectEnd, startAt } from './cursor.ts';
import { parseExpressionText } from './expression.ts';
import type { Node, OptionNodes } from './nodes.ts';
import { readOption } from './option.ts';
import { optionOf, PARSED_OPTIONS } from './option-name.ts';
import type { RawOptions } from './query-string.ts';
import type { Sourced } from './source.ts';

/**
 * Parses the value of every option of a request. Options that have no syntax (`$skiptoken`, `$format`, …) are left
 * to whoever binds.
 * @throws syntax, filterTooLarge, optionInvalid and the errors of nested options
 */
export function parseOptions(raw: RawOptions): OptionNodes {
  const aliases = new Map<string, Sourced<Node>>();
  for (const [name, text] of raw.aliases) {
    const source = { option: `@${name}`, text };
    aliases.set(name, { source, value: parseExpressionText(source) });
  }
  let options: OptionNodes = { aliases };
  for (const [name, text] of raw.system) {
    const option = optionOf(name, PARSED_OPTIONS);
    if (option === undefined) continue;
    const cursor = startAt({ option: `$${option}`, text });
    options = { ...options, ...readOption(cursor, option, false) };
    expectEnd(cursor, option === 'filter' ? 'an operator, such as eq or and,' : '","');
  }
  return options;
}
