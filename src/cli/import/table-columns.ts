/** Maps the columns of a table to fields. */
import { findNavigation, nearestName, type Resource } from '../../dictionary/index.ts';
import { usageError } from '../../errors/index.ts';
import { type FieldMap, fieldTitles } from './field-names.ts';
import type { Column } from './row-reader.ts';

/** Maximum number of columns in a message. */
const SHOWN = 10;

/**
 * @param takesUnknown whether columns that are not fields are permitted
 * @param hasLearned whether all fields that can be declared have been declared
 * @throws PlatError `usage` for a header with which no row could be stored, with a remedy
 */
export function columnsOf(
  file: string,
  header: readonly string[],
  resource: Resource,
  map: FieldMap,
  takesUnknown: boolean,
  hasLearned = false,
): Column[] {
  const wrong = (reason: string): never => {
    throw usageError(`${file}: ${reason}`);
  };
  const titles = fieldTitles(resource);
  const keys = new Set([resource.key, ...[...resource.navigations.values()].map(({ local }) => local)]);
  const columns = header.map((title): Column => {
    const name = map.has(title) ? map.get(title) : title === '' ? undefined : (titles.get(title) ?? title);
    const isNested = name !== undefined && findNavigation(resource, name) !== undefined;
    return { title, name, isNested, isKey: name !== undefined && keys.has(name) };
  });
  const names = columns.flatMap(({ name }) =>
    name === undefined ? [] : [resource.fieldAliases.get(name) ?? name],
  );
  const repeated = names.find((name, at) => names.indexOf(name) !== at);
  if (repeated !== undefined) {
    const titles = columns.filter(({ name }) => name === repeated).map(({ title }) => title);
    const isOne = titles.some((title, at) => titles.indexOf(title) !== at);
    const help = isOne
      ? 'give one of them another name in the header'
      : '--map "COLUMN=" leaves one of them out';
    wrong(`two columns are ${repeated}; ${help}.`);
  }
  if (!names.includes(resource.key)) {
    const shown = header.slice(0, SHOWN).join(', ');
    wrong(
      `no column is ${resource.key}, the key of ${resource.name}; name its column with --map "COLUMN=${resource.key}" (columns: ${shown}).`,
    );
  }
  const unknown = columns.flatMap(({ name, isNested }, at) =>
    name === undefined || isNested || resource.fields.has(name) || resource.fieldAliases.has(name)
      ? []
      : [{ title: header[at] ?? name, name }],
  );
  if (unknown.length > 0 && !takesUnknown) {
    const [{ title, name } = { title: '', name: '' }] = unknown;
    const shown = unknown.slice(0, SHOWN).map((each) => each.name);
    const more = unknown.length > SHOWN ? ` and ${unknown.length - SHOWN} more` : '';
    const nearest = nearestName(name, resource.fields.keys());
    const example = `--map ${JSON.stringify(`${title}=${nearest ?? 'Field'}`)}`;
    const what = `${shown.join(', ')}${more} ${unknown.length === 1 ? 'is not a field' : 'are not fields'} of ${resource.name}`;
    const [problem, infer] = hasLearned
      ? [`${what} and cannot be declared`, '']
      : [what, ' --infer declares new fields,'];
    wrong(`${problem}: ${example} gives a column its field,${infer} --extra-fields ignore leaves them out.`);
  }
  return columns;
}
