import { nearestName } from '../../../dictionary/index.ts';
import { platError } from '../../../errors/index.ts';
import { accept, type Cursor, expect, nested, peek, take, unexpected } from './cursor.ts';
import { parseExpression } from './expression.ts';
import type { Node, OptionNodes } from './nodes.ts';
import { readOption } from './option.ts';
import { optionOf, type ParsedOption } from './option-name.ts';
import { type Sourced, shown } from './source.ts';

type Mutable = { -readonly [Key in keyof OptionNodes]: OptionNodes[Key] };

/**
 * Reads the options in the parentheses of an item, `)` included: separated by semicolons, with or without dollar.
 * @param allowed the options that may stand here; aliases may always
 * @throws syntax, optionUnknown, optionRepeated, optionInvalid
 */
export function parseOptionList(cursor: Cursor, allowed: ReadonlySet<ParsedOption>): OptionNodes {
  return nested(cursor, () => {
    const aliases = new Map<string, Sourced<Node>>();
    const options: Mutable = { aliases };
    do {
      const token = peek(cursor);
      switch (token.kind) {
        case 'at':
          take(cursor);
          expect(cursor, '=');
          if (aliases.has(token.name)) throw repeated(cursor, `@${token.name}`);
          aliases.set(token.name, { source: cursor.source, value: parseExpression(cursor) });
          break;
        case 'system':
        case 'name': {
          take(cursor);
          const option = optionOf(token.name, allowed);
          if (option === undefined) throw unknown(cursor, token.name, allowed);
          expect(cursor, '=', ` after ${token.name}`);
          if (options[option] !== undefined) throw repeated(cursor, `$${option}`);
          Object.assign(options, readOption(cursor, option, true));
          break;
        }
        default:
          throw unexpected(cursor, 'an option, such as $select=…');
      }
    } while (accept(cursor, ';'));
    expect(cursor, ')', ' or ";"');
    return options;
  });
}

const repeated = ({ source }: Cursor, name: string) =>
  platError('optionRepeated', { name: `${name} inside ${source.option}` }, { target: source.option });

function unknown({ source }: Cursor, name: string, allowed: ReadonlySet<ParsedOption>) {
  const nearest = nearestName(name, allowed);
  return platError(
    'optionUnknown',
    { name: `$${shown(name)} inside ${source.option}`, nearest: nearest && `$${nearest}` },
    { target: source.option },
  );
}
