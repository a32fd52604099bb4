import { type Dictionary, findNavigation, type Resource } from '../../dictionary/index.ts';
import { isObject } from '../json.ts';

type Json = Readonly<Record<string, unknown>>;

/** What some sources write in the place of a date. */
const MIDNIGHT = /^(\d{4}-\d{2}-\d{2})T00:00:00(?:\.0+)?(?:Z|[+-]00:00)?$/;

/**
 * A record in the forms that the dictionary has, where sources commonly write another: a list as one text with commas
 * (the flags of OData 4), a date as its midnight, and in a custom text field, which may be a guess, anything as JSON.
 * The same object where nothing has to change.
 */
export function inForms(resource: Resource, json: Json, dictionary: Dictionary): Json {
  let changed: Record<string, unknown> | undefined;
  for (const name of Object.keys(json)) {
    const value = json[name];
    const form = formOf(resource, name, value, dictionary);
    if (form === value) continue;
    changed ??= { ...json };
    changed[name] = form;
  }
  return changed ?? json;
}

function formOf(resource: Resource, name: string, value: unknown, dictionary: Dictionary): unknown {
  if (value === null || value === undefined) return value;
  const field = resource.fields.get(resource.fieldAliases.get(name) ?? name);
  if (field === undefined) return Array.isArray(value) ? members(resource, name, value, dictionary) : value;
  if (field.collection) return typeof value === 'string' ? listOf(value) : value;
  if (typeof value === 'string') return field.type.kind === 'date' ? dayOf(value) : value;
  return field.custom !== undefined && field.type.kind === 'string' ? JSON.stringify(value) : value;
}

const dayOf = (text: string): string => MIDNIGHT.exec(text)?.[1] ?? text;

const listOf = (text: string): string[] =>
  text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');

function members(
  resource: Resource,
  name: string,
  list: readonly unknown[],
  dictionary: Dictionary,
): readonly unknown[] {
  const target = dictionary.resources.get(findNavigation(resource, name)?.target ?? '');
  if (target === undefined) return list;
  const forms = list.map((member) => (isObject(member) ? inForms(target, member, dictionary) : member));
  return forms.some((form, at) => form !== list[at]) ? forms : list;
}
