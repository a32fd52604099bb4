import { type FieldValue, type FieldValues, REPLICA_STAMP, type Resource } from '../../dictionary/index.ts';
import { isDerived } from '../../store/record/content-hash.ts';
import { isAbsent, type ParsedRecord } from '../../store/record/parsed-record.ts';
import type { Store } from '../../store/store.ts';

/** The stamp that the replica sets itself. */
const ownStampOf = ({ fields }: Resource): string =>
  fields.has(REPLICA_STAMP) ? REPLICA_STAMP : 'ModificationTimestamp';

/**
 * The fields in which a record at the source differs from the stored one, its collections included; those of a
 * collection's member are named `Media(key).Field`. Agent fields are compared as Members and Offices.
 * @returns undefined when nothing is stored under its key
 */
export async function differingFields(store: Store, record: ParsedRecord): Promise<string[] | undefined> {
  const { resource, key, values, children } = record;
  const [stored] = await store.contents(resource.name, { key });
  if (stored === undefined) return undefined;
  const fields = differences(record, values, stored);
  for (const [name, members] of children) {
    const target = resource.navigations.get(name)?.target ?? members[0]?.resource.name;
    if (target === undefined) continue;
    const under = { parent: key, parentResource: resource.name };
    fields.push(...(await memberDifferences(store, name, target, members, under)));
  }
  return fields;
}

async function memberDifferences(
  store: Store,
  name: string,
  target: string,
  members: readonly ParsedRecord[],
  under: { readonly parent: string; readonly parentResource: string },
): Promise<string[]> {
  const { key: keyField } = (await store.model()).resource(target);
  const stored = new Map(
    (await store.contents(target, under)).map((values) => [String(values[keyField]), values]),
  );
  const found: string[] = [];
  for (const member of members) {
    const other = stored.get(member.key);
    stored.delete(member.key);
    if (other === undefined) found.push(`${name}(${member.key}) is missing`);
    else
      found.push(
        ...differences(member, member.values, other).map((field) => `${name}(${member.key}).${field}`),
      );
  }
  for (const key of stored.keys()) found.push(`${name}(${key}) is not at the source`);
  return found;
}

function differences({ resource }: ParsedRecord, source: FieldValues, stored: FieldValues): string[] {
  const names = new Set([...Object.keys(source), ...Object.keys(stored)]);
  const ownStamp = ownStampOf(resource);
  return [...names].filter((name) => {
    const field = resource.fields.get(name);
    // Addresses are signed anew for every request.
    if (name === 'MediaURL' || name === ownStamp || field?.joined !== undefined) return false;
    // What a source does not say of a listing's system, the replica adds.
    if (isDerived(name) && isAbsent(source[name])) return false;
    return !isEqual(source[name], stored[name]);
  });
}

function isEqual(left: FieldValue | undefined, right: FieldValue | undefined): boolean {
  if (isAbsent(left) || isAbsent(right)) return isAbsent(left) && isAbsent(right);
  return JSON.stringify(left) === JSON.stringify(right);
}
