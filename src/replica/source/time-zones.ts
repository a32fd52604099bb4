/**
 * Timestamps without a time zone, which RESO and OData do not allow (Edm.DateTimeOffset), and which many sources send in UTC. plat
 * does not guess: it reads them as UTC if the operator says so, and otherwise quarantines their records.
 */
import { type Dictionary, findNavigation, type Resource } from '../../dictionary/index.ts';
import { isObject, type JsonObject } from '../../shared/json.ts';
import type { ForeignField } from './source.ts';

const ZONELESS = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/;

const isTimestamp = ({ fields, fieldAliases }: Resource, name: string): boolean =>
  fields.get(fieldAliases.get(name) ?? name)?.type.kind === 'timestamp';

/** The first field of a record with a timestamp without a time zone. */
export const zonelessField = (resource: Resource, json: JsonObject): string | undefined =>
  Object.keys(json).find((name) => ZONELESS.test(String(json[name])) && isTimestamp(resource, name));

/**
 * Makes timestamps without a time zone ones in UTC, in the records of a source and their collections.
 * @param foreignFields the source's own fields, which the dictionary may not have yet
 */
export function utcReader(
  { resources }: Dictionary,
  foreignFields: readonly ForeignField[],
): (resource: string, json: JsonObject) => JsonObject {
  const own = new Set(
    foreignFields.filter(({ type }) => type === 'timestamp').map((each) => `${each.resource}.${each.name}`),
  );
  const read = (resource: Resource, json: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(json).map(([name, value]) => [name, inUtc(resource, name, value)]));
  function inUtc(resource: Resource, name: string, value: unknown): unknown {
    if (Array.isArray(value)) {
      const members = resources.get(findNavigation(resource, name)?.target ?? '');
      return members === undefined
        ? value
        : value.map((each) => (isObject(each) ? read(members, each) : each));
    }
    const isZoneless = typeof value === 'string' && ZONELESS.test(value);
    return isZoneless && (isTimestamp(resource, name) || own.has(`${resource.name}.${name}`))
      ? `${value}Z`
      : value;
  }
  return (name, json) => {
    const resource = resources.get(name);
    return resource === undefined ? json : read(resource, json);
  };
}
