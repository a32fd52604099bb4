import { type Dictionary, findNavigation, type Resource } from '../../dictionary/index.ts';
import { isObject } from '../../shared/json.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * A record with anything that stands in a custom text field, which may be a guess, as JSON. The same object where nothing
 * has to change. Other forms of values are read where every record is (records/lenient.ts).
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
  if (field.collection || typeof value === 'string') return value;
  return field.custom !== undefined && field.type.kind === 'string' ? JSON.stringify(value) : value;
}

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
