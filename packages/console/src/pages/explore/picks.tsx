/** The choice of interface, resource, and role or key. */
import type { About } from '../../app/api.ts';
import { link, open } from '../../app/route.ts';
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
  const offered = (keys ?? []).filter((key) => isOf(key, name));
  const chosen = [
    ...about.roles.map((role) => `role/${encodeURIComponent(role)}`),
    ...offered.map(({ id }) => `key/${id}`),
  ];
  return (
    <div class="picks">
      <div>
        <label for="interface">Interface</label>
        <select
          id="interface"
          value={name}
          onChange={({ currentTarget }) =>
            go({ interface: currentTarget.value, as: as.startsWith('role/') ? as : '' })
          }
        >
          {INTERFACES.map((each) => (
            <option key={each.name} value={each.name}>
              {each.title}
            </option>
          ))}
        </select>
      </div>
      <div>
        <label for="resource">Resource</label>
        <select
          id="resource"
          value={resource}
          onChange={({ currentTarget }) => go({ interface: name, as, resource: currentTarget.value })}
        >
          {shown.map((each) => (
            <option key={each} value={each}>
              {TITLES[each] ?? each}
            </option>
          ))}
        </select>
      </div>
      <div>
        <label for="as">Seen as</label>
        <select id="as" value={as} onChange={({ currentTarget }) => seen(currentTarget.value)}>
          <optgroup label="Roles">
            {about.roles.map((role) => (
              <option key={role} value={`role/${encodeURIComponent(role)}`}>
                {role}
              </option>
            ))}
          </optgroup>
          {offered.length === 0 ? null : (
            <optgroup label="Keys">
              {offered.map((key) => (
                <option key={key.id} value={`key/${key.id}`}>
                  {key.name} ({key.kind}, {key.role}, {key.id})
                </option>
              ))}
            </optgroup>
          )}
          {chosen.includes(as) ? null : <option value={as}>{as}</option>}
        </select>
      </div>
    </div>
  );
}
