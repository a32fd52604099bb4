/** Reads the entity types of `$metadata`, as far as the scenarios need them. */
import { XMLParser } from 'fast-xml-parser';
import type { Asker } from './asker.ts';

export interface EntityType {
  readonly keys: readonly string[];
  readonly properties: readonly string[];
  /** The navigations to collections, by name, with their target types. */
  readonly collections: ReadonlyMap<string, string>;
}

interface Element {
  readonly Name: string;
  readonly Type?: string;
}
interface TypeElement extends Element {
  readonly Key: { readonly PropertyRef: readonly Element[] };
  readonly Property: readonly Element[];
  readonly NavigationProperty?: readonly Element[];
}

const LISTS = new Set(['Schema', 'EntityType', 'Property', 'NavigationProperty', 'PropertyRef']);
const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '',
  isArray: (name, _, __, isAttribute) => !isAttribute && LISTS.has(name),
});

export async function entityTypes(feed: Asker): Promise<ReadonlyMap<string, EntityType>> {
  const document = parser.parse((await feed.get('$metadata')).text);
  const types: readonly TypeElement[] = document['edmx:Edmx']['edmx:DataServices'].Schema.flatMap(
    ({ EntityType = [] }: { readonly EntityType?: readonly TypeElement[] }) => EntityType,
  );
  return new Map(
    types.map(({ Name, Key, Property, NavigationProperty = [] }) => {
      const targets = NavigationProperty.flatMap((each) => {
        const [, target] = /^Collection\(.*\.(\w+)\)$/.exec(each.Type ?? '') ?? [];
        return target === undefined ? [] : [[each.Name, target] as const];
      });
      const names = (list: readonly Element[]) => list.map((each) => each.Name);
      return [
        Name,
        { keys: names(Key.PropertyRef), properties: names(Property), collections: new Map(targets) },
      ];
    }),
  );
}
