/** The choice of columns, order and related records. */
import { useState } from 'preact/hooks';
import { change } from '../../app/route.ts';
import { Check, Select } from '../../parts/choices.tsx';
import { orderOf, orderText } from './order.ts';
import { type ResourceInfo, titled } from './schema.ts';
import { namesIn, type View } from './view.ts';

interface ShapeProps {
  readonly view: View;
  readonly resource: ResourceInfo;
  readonly columns: readonly string[];
}

export const ShapePart = ({ view, resource, columns }: ShapeProps) => (
  <div class="shape">
    <Columns resource={resource} columns={columns} />
    <Order view={view} resource={resource} />
    {resource.navigations.length === 0 ? null : <Expansions view={view} resource={resource} />}
  </div>
);

function Columns({ resource, columns }: Omit<ShapeProps, 'view'>) {
  const [search, setSearch] = useState('');
  const wanted = search.toLowerCase();
  const found = resource.fields
    .filter(({ name, label }) => `${name} ${label}`.toLowerCase().includes(wanted))
    .toSorted((one, other) => one.label.localeCompare(other.label));
  const toggle = (name: string, isOn: boolean) => {
    const now = isOn ? [...columns, name] : columns.filter((each) => each !== name);
    change({ select: now.join(',') }, true);
  };
  return (
    <details>
      <summary>Columns ({columns.length})</summary>
      <div class="card drop">
        <label for="columns-search">Find a field</label>
        <input
          id="columns-search"
          type="search"
          value={search}
          onInput={({ currentTarget }) => setSearch(currentTarget.value)}
        />
        <div class="buttons">
          <button type="button" class="quiet" onClick={() => change({ select: '*' })}>
            All fields
          </button>
          <button type="button" class="quiet" onClick={() => change({ select: '' })}>
            The default columns
          </button>
        </div>
        <fieldset class="boxes">
          <legend class="visually-hidden">Columns</legend>
          {found.map(({ name, label }) => (
            <Check
              key={name}
              title={name}
              isOn={columns.includes(name)}
              isFixed={resource.key.includes(name)}
              set={(isOn) => toggle(name, isOn)}
            >
              {label}
            </Check>
          ))}
          {found.length === 0 ? <p class="hint">No field has this in its name.</p> : null}
        </fieldset>
      </div>
    </details>
  );
}

function Order({ view, resource }: Omit<ShapeProps, 'columns'>) {
  const order = orderOf(view.interface, view.order);
  const [first, ...others] = order;
  const set = (name: string, isDescending: boolean) =>
    change({ order: orderText(view.interface, name === '' ? [] : [{ name, isDescending }, ...others]) });
  const sortable = resource.fields
    .filter(({ isList }) => !isList)
    .toSorted((one, other) => one.label.localeCompare(other.label));
  return (
    <div class="order">
      <label for="order">Order</label>
      <Select
        id="order"
        value={first?.name ?? ''}
        choose={(name) => set(name, first?.isDescending ?? false)}
        options={sortable.map(titled)}
      >
        <option value="">By key</option>
        {first === undefined || sortable.some(({ name }) => name === first.name) ? null : (
          <option>{first.name}</option>
        )}
      </Select>
      {first === undefined ? null : (
        <Select
          aria-label="Direction"
          value={first.isDescending ? 'desc' : 'asc'}
          choose={(direction) => set(first.name, direction === 'desc')}
          options={[
            ['asc', 'smallest first'],
            ['desc', 'largest first'],
          ]}
        />
      )}
      {others.length === 0 ? null : (
        <span class="hint">then {others.map(({ name }) => name).join(', ')}</span>
      )}
    </div>
  );
}

function Expansions({ view, resource }: Omit<ShapeProps, 'columns'>) {
  const chosen = namesIn(view.expand);
  const toggle = (name: string, isOn: boolean) =>
    change({ expand: (isOn ? [...chosen, name] : chosen.filter((each) => each !== name)).join(',') }, true);
  return (
    <details>
      <summary>Related records ({chosen.length})</summary>
      <div class="card drop">
        <fieldset class="boxes">
          <legend class="visually-hidden">Related records</legend>
          {resource.navigations.map(({ name }) => (
            <Check key={name} isOn={chosen.includes(name)} set={(isOn) => toggle(name, isOn)}>
              {name}
            </Check>
          ))}
        </fieldset>
      </div>
    </details>
  );
}
