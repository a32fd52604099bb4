/** The fields of the resources of an interface as the chosen role or key sees them. */
import { type About, get, pathSeenBy, Refused } from '../../app/api.ts';
import { type Loaded, useLoaded } from '../../parts/use-loaded.ts';
import { type Row, rootOf } from './request.ts';
import {
  type Csdl,
  type NativeAnswer,
  type NativeField,
  nativeListings,
  type Schema,
  schemaOfCsdl,
  schemaOfRecords,
} from './schema.ts';
import type { View } from './view.ts';

/** Schemas that have been read. They change only with the configuration of the service. */
const read = new Map<string, Schema>();

/** The first records of a resource; none if the role may not read it. */
async function firstOf(path: string): Promise<readonly Row[]> {
  try {
    return (await get<NativeAnswer<Row>>(path)).D.Results;
  } catch (error) {
    if (error instanceof Refused && (error.status === 403 || error.status === 404)) return [];
    throw error;
  }
}

async function readSchema(view: View, base: string): Promise<Schema> {
  switch (view.interface) {
    case 'reso':
      return schemaOfCsdl(await get<Csdl>(`${base}$metadata?$format=json`));
    case 'floorplans': {
      const { value } = await get<{ readonly value: readonly Row[] }>(`${base}Media?$top=25`);
      return new Map([['Media', schemaOfRecords('Media', ['MediaKey'], value)]]);
    }
    case 'native': {
      const [standard, custom, accounts, houses] = await Promise.all([
        get<NativeAnswer<Readonly<Record<string, NativeField>>>>(`${base}standardfields`),
        get<NativeAnswer<Readonly<Record<string, Readonly<Record<string, NativeField>>>>>>(
          `${base}customfields`,
        ),
        firstOf(`${base}accounts?_limit=25`),
        firstOf(`${base}openhouses?_limit=25`),
      ]);
      return new Map([
        ['listings', nativeListings(standard.D.Results[0] ?? {}, custom.D.Results)],
        ['accounts', schemaOfRecords('accounts', ['Id'], accounts)],
        ['openhouses', schemaOfRecords('openhouses', ['Id'], houses)],
      ]);
    }
  }
}

export function useSchema(view: View, about: About): readonly [Loaded<Schema>, () => void] {
  const base = pathSeenBy(view.as, view.surface, rootOf(view, about));
  return useLoaded(base, async () => {
    const schema = read.get(base) ?? (await readSchema(view, base));
    read.set(base, schema);
    return schema;
  });
}
