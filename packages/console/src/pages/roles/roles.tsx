/** Roles: the resources, classes and number of records that each role sees, and one record as each role sees it. */
import { get } from '../../app/api.ts';
import { change, query } from '../../app/route.ts';
import { Select } from '../../parts/choices.tsx';
import type { ClassedResource, RolesInForce } from '../../parts/roles-in-force.ts';
import { SameAsAdmin } from '../../parts/same-as-request.tsx';
import { Empty, Shown } from '../../parts/states.tsx';
import { useLoaded } from '../../parts/use-loaded.ts';
import { ClassMatrix } from './class-matrix.tsx';
import { RecordPart } from './record-part.tsx';
import { RowMatrix } from './row-matrix.tsx';
import { RowRules } from './row-rules.tsx';
import './roles.css';

export function Roles() {
  const [roles, again] = useLoaded('roles', () => get<RolesInForce>('/roles'));
  return (
    <>
      <h1>Roles</h1>
      <p class="hint">
        Every key has a role, and the role alone decides which records and which fields it sees.
      </p>
      <Shown of={roles} again={again} what="the roles">
        {(inForce) => <InForce roles={inForce} />}
      </Shown>
    </>
  );
}

function InForce({ roles }: { readonly roles: RolesInForce }) {
  const chosen = query.value.get('resource');
  const resource = roles.resources.find(({ name }) => name === chosen) ?? roles.resources[0];
  if (resource === undefined) return <Empty title="The store publishes nothing yet" />;
  return (
    <>
      <h2>Records that each role sees</h2>
      <p class="hint">
        Parts of a listing, such as its media and rooms, are seen only with their listing. A key that is
        limited to systems sees fewer.
      </p>
      <RowMatrix roles={roles} />
      <ChooseResource resources={roles.resources} chosen={resource} />
      <h2>Fields of {resource.name} by class</h2>
      <ClassMatrix roles={roles} resource={resource} />
      <h2>Which records of {resource.name}</h2>
      <RowRules roles={roles} resource={resource} />
      <h2>One record, seen by each role</h2>
      <RecordPart roles={roles} resource={resource} />
      <SameAsAdmin path="/roles" table={{ name: 'roles', rows: () => classRows(roles) }} />
    </>
  );
}

/** A row for each resource and class, with its fields and the roles that see them. */
const classRows = ({ roles, resources }: RolesInForce) =>
  resources.flatMap(({ name, fields }) =>
    Object.entries(fields).map(([each, names]) => ({
      ...{ resource: name, class: each, fields: names.join(' ') },
      ...Object.fromEntries(
        roles.map((role) => [
          `role ${role.name}`,
          role.rows[name] !== undefined && (each === 'open' || role.classes.includes(each)),
        ]),
      ),
    })),
  );

const ChooseResource = ({
  resources,
  chosen,
}: {
  readonly resources: readonly ClassedResource[];
  readonly chosen: ClassedResource;
}) => (
  <label class="field roles-resource">
    Details of
    <Select
      value={chosen.name}
      choose={(resource) => change({ resource, record: undefined })}
      options={resources.map(({ name }) => name)}
    />
  </label>
);
