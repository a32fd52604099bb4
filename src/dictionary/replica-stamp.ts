import type { Dictionary, Field } from './types.ts';

/**
 * The stamp that a replica sets on each record beside those that its source sent, so that a consumer of the replica can
 * window without loss.
 */
export const REPLICA_STAMP = 'ReplicaModificationTimestamp';

/** The dictionary with the replica's own stamp in every resource. */
export function withReplicaStamp(dictionary: Dictionary): Dictionary {
  const resources = [...dictionary.resources.values()].map((resource) => {
    const field: Field = {
      resource: resource.name,
      name: REPLICA_STAMP,
      nativeName: REPLICA_STAMP,
      type: { kind: 'timestamp' },
      collection: false,
      class: 'open',
    };
    return { ...resource, fields: new Map(resource.fields).set(REPLICA_STAMP, field) };
  });
  return { ...dictionary, resources: new Map(resources.map((resource) => [resource.name, resource])) };
}
