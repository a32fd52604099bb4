/** One record as each role sees it, side by side. */
import { useState } from 'preact/hooks';
import { change, query } from '../../app/route.ts';
import { Check } from '../../parts/choices.tsx';
import type { ClassedResource, RolesInForce } from '../../parts/roles-in-force.ts';
import { ScrollBox } from '../../parts/scroll-box.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { useLoaded } from '../../parts/use-loaded.ts';
import { shownValue } from '../../parts/words.ts';
import { type Example, exampleOf, type Seen, type SeenRecord, seenRecord } from './seen-record.ts';

interface OfResource {
  readonly roles: RolesInForce;
  readonly resource: ClassedResource;
}

export function RecordPart({ roles, resource }: OfResource) {
  const key = query.value.get('record') ?? '';
  const [seen, again] = useLoaded(key === '' ? undefined : `${resource.name} ${key}`, () =>
    seenRecord(roles, resource, key),
  );
  return (
    <>
      <Choose roles={roles} resource={resource} chosen={key} />
      {key === '' ? (
        <Empty title="Choose a record">
          <p>Type its key, or look at an example.</p>
        </Empty>
      ) : seen.kind === 'loading' ? (
        <Loading what="the record for each role" />
      ) : seen.kind === 'failed' ? (
        <Problem error={seen.error} again={again} />
      ) : seen.value.roles.length === 0 ? (
        <Empty title="No role sees a record with this key" />
      ) : (
        <SideBySide record={seen.value} resource={resource.name} />
      )}
    </>
  );
}

function Choose({ roles, resource, chosen }: OfResource & { readonly chosen: string }) {
  const [note, setNote] = useState('');
  const submit = (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    setNote('');
    change({ record: String(new FormData(event.currentTarget).get('record') ?? '').trim() });
  };
  const pick = (which: Example) =>
    exampleOf(roles, resource, which).then(
      (record) => {
        if (record === undefined) setNote('There is no such record.');
        else change({ record });
      },
      (error: unknown) => setNote(error instanceof Error ? error.message : String(error)),
    );
  const canWithhold = roles.withheld.some((rule) => rule.resource === resource.name);
  return (
    <form class="roles-choose" onSubmit={submit}>
      <label class="field">
        {resource.key}
        <input key={chosen} name="record" defaultValue={chosen} autocomplete="off" spellcheck={false} />
      </label>
      <button type="submit">Show</button>
      <button type="button" class="quiet" onClick={() => void pick('any')}>
        Any record
      </button>
      {canWithhold ? (
        <button type="button" class="quiet" onClick={() => void pick('withheld')}>
          One with withheld values
        </button>
      ) : null}
      <output class="hint">{note}</output>
    </form>
  );
}

function SideBySide({ record, resource }: { readonly record: SeenRecord; readonly resource: string }) {
  const showsAll = query.value.get('fields') === 'all';
  const shown = record.fields.filter(({ isSame }) => showsAll || !isSame);
  const groups = [...Map.groupBy(shown, (field) => field.class)];
  return (
    <>
      {record.blind.length === 0 ? null : (
        <p>
          Not seen by{' '}
          {record.blind.map(({ name }) => (
            <span key={name}>
              <span class="badge">{name}</span>{' '}
            </span>
          ))}
        </p>
      )}
      <Check isOn={showsAll} set={(all) => change({ fields: all ? 'all' : undefined }, true)}>
        Also show the {record.fields.filter(({ isSame }) => isSame).length} fields that are empty, or that all
        of these roles see alike
      </Check>
      {shown.length === 0 ? (
        <Empty title="All roles that see this record see it identically" />
      ) : (
        <ScrollBox label={`The record of ${resource} as each role sees it`}>
          <table class="roles-record">
            <thead>
              <tr>
                <th scope="col">Field</th>
                {record.roles.map(({ name }) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            {groups.map(([kind, fields]) => (
              <tbody key={kind}>
                <tr class="roles-group">
                  <th scope="rowgroup" colSpan={record.roles.length + 1}>
                    Class {kind}
                  </th>
                </tr>
                {fields.map(({ name, seen }) => (
                  <tr key={name}>
                    <th scope="row">{name}</th>
                    {seen.map((each, at) => (
                      <td key={record.roles[at]?.name}>
                        <Cell name={name} seen={each} />
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            ))}
          </table>
        </ScrollBox>
      )}
    </>
  );
}

function Cell({ name, seen }: { readonly name: string; readonly seen: Seen }) {
  switch (seen.kind) {
    case 'value':
      return <>{shownValue(name, seen.value)}</>;
    case 'empty':
      return <span class="hint">empty</span>;
    case 'withheld':
      return <span class="badge warn">withheld</span>;
    case 'hidden':
      return <span class="badge">hidden</span>;
  }
}
