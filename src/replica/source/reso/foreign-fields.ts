import type { Dictionary } from '../../../dictionary/index.ts';
import { isForeign } from '../foreign.ts';
import type { ForeignField } from '../source.ts';
import type { PropertyShape, SourceMetadata } from './metadata.ts';

/** The group of fields that a source declares without a LocalName. */
const GROUP = 'Source';

/** Fields of the source's metadata that the standard dictionary does not have, for the resources that are replicated. */
export function foreignFields(metadata: SourceMetadata, dictionary: Dictionary): ForeignField[] {
  return [...dictionary.resources.values()].flatMap((resource) => {
    const shape = metadata.types.get(metadata.entitySets.get(resource.name) ?? resource.name);
    if (shape === undefined) return [];
    return [...shape.properties]
      .filter(([name]) => isForeign(resource, name))
      .map(([name, property]) => ({ resource: resource.name, name, ...typeAndName(name, property) }));
  });
}

function typeAndName(name: string, property: PropertyShape): Pick<ForeignField, 'type' | 'group' | 'label'> {
  const [, group = GROUP, label = name] = /^([^:]+): (.+)$/.exec(property.localName ?? '') ?? [];
  return { type: fieldType(property), group, label };
}

/** The type in the notation of the field tables. Enumerations are texts. */
function fieldType({ type, precision, scale }: PropertyShape): string {
  const inner = /^Collection\((.+)\)$/.exec(type)?.[1];
  if (inner !== undefined) return 'string[]';
  switch (type) {
    case 'Edm.Boolean':
      return 'boolean';
    case 'Edm.Date':
      return 'date';
    case 'Edm.DateTimeOffset':
      return 'timestamp';
    case 'Edm.Byte':
    case 'Edm.Int16':
    case 'Edm.Int32':
    case 'Edm.Int64':
      return 'integer';
    case 'Edm.Decimal':
    case 'Edm.Double':
    case 'Edm.Single': {
      const digits = Math.min(15, Math.max(1, Number(precision ?? 15) || 15));
      return `decimal(${digits},${Math.min(digits, Number(scale ?? 4) || 4)})`;
    }
    default:
      return 'string';
  }
}
