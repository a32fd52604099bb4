import type { Dictionary, Field } from './types.ts';

/**
 * The stamp that a replica sets on each record beside those that its source sent, so that a consumer of the replica can
 * window without loss.
 */
export const REPLICA_STAMP = 'ReplicaModificationTimestamp';
/** The source's ModificationTimestamp, in a replica that gives its own under that name. */
export const SOURCE_STAMP = 'SourceModificationTimestamp';

/** The dictionary with a stamp of replicas in every resource. */
export function withReplicaStamp(
  dictionary: Dictionary,
  name: typeof REPLICA_STAMP | typeof SOURCE_STAMP,
): Dictionary {
  const resources = [...dictionary.resources.values()].map((resource) => {
    const field: Field = {
      resource: resource.name,
      name,
      nativeName: name,
      type: { kind: 'timestamp' },
      collection: false,
      class: 'open',
    };
    return { ...resource, fields: new Map(resource.fields).set(name, field) };
  });
  return { ...dictionary, resources: new Map(resources.map((resource) => [resource.name, resource])) };
}
