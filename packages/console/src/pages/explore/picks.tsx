/** The choice of interface, resource, and role or key. */
import type { About } from '../../app/api.ts';
import { link, open } from '../../app/route.ts';
import { Options, Select } from '../../parts/choices.tsx';
import type { Schema } from './schema.ts';
import { INTERFACES, type ListedKey, type View } from './view.ts';

/** Resources that people know by another name. */
const TITLES: Readonly<Record<string, string>> = {
  Property: 'Listings (Property)',
  Member: 'Agents (Member)',
  Office: 'Offices (Office)',
  Media: 'Photos and files (Media)',
  PropertyRooms: 'Rooms (PropertyRooms)',
  PropertyUnitTypes: 'Units (PropertyUnitTypes)',
  OpenHouse: 'Open houses (OpenHouse)',
  Lookup: 'Lookup values (Lookup)',
  Field: 'Fields (Field)',
  OUID: 'Systems (OUID)',
  listings: 'Listings',
  accounts: 'Agents and offices (accounts)',
  openhouses: 'Open houses',
};

interface PicksProps {
  readonly view: View;
  readonly about: About;
  readonly keys: readonly ListedKey[] | undefined;
  readonly schema: Schema | undefined;
}

/** Whether a key can be used with an interface. */
const isOf = ({ kind, revokedAt }: ListedKey, name: View['interface']): boolean =>
  revokedAt === null && kind !== 'admin' && (kind === 'floorplans') === (name === 'floorplans');

export function Picks({ view, about, keys, schema }: PicksProps) {
  const { interface: name, resource, as } = view;
  // Another interface or resource has other fields, so the filter and columns do not apply there.
  const go = (state: Readonly<Record<string, string>>) => open(link(['explore'], state));
  const seen = (viewer: string) => {
    open(link(['explore'], { ...Object.fromEntries(new URLSearchParams(location.search)), as: viewer }));
  };
  const resources = schema === undefined ? [resource] : [...schema.keys()];
  const shown = resources.includes(resource) ? resources : [resource, ...resources];
  const roles = about.roles.map((role) => [`role/${encodeURIComponent(role)}`, role] as const);
  const keyChoices = (keys ?? [])
    .filter((key) => isOf(key, name))
    .map((key) => [`key/${key.id}`, `${key.name} (${key.kind}, ${key.role}, ${key.id})`] as const);
  return (
    <div class="picks">
      <div>
        <label for="interface">Interface</label>
        <Select
          id="interface"
          value={name}
          choose={(chosen) => go({ interface: chosen, as: as.startsWith('role/') ? as : '' })}
          options={INTERFACES.map((each) => [each.name, each.title])}
        />
      </div>
      <div>
        <label for="resource">Resource</label>
        <Select
          id="resource"
          value={resource}
          choose={(chosen) => go({ interface: name, as, resource: chosen })}
          options={shown.map((each) => [each, TITLES[each] ?? each])}
        />
      </div>
      <div>
        <label for="as">Seen as</label>
        <Select id="as" value={as} choose={seen}>
          <optgroup label="Roles">
            <Options of={roles} />
          </optgroup>
          {keyChoices.length === 0 ? null : (
            <optgroup label="Keys">
              <Options of={keyChoices} />
            </optgroup>
          )}
          {[...roles, ...keyChoices].some(([each]) => each === as) ? null : <option value={as}>{as}</option>}
        </Select>
      </div>
    </div>
  );
}
