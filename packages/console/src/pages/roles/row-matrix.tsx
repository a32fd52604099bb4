/** The number of records of each resource that each role sees. */
import { useEffect, useState } from 'preact/hooks';
import { link } from '../../app/route.ts';
import { countsOf } from '../../parts/counts.ts';
import type { ClassedResource, RolesInForce, SeenRole } from '../../parts/roles-in-force.ts';
import { Problem } from '../../parts/states.tsx';
import { Table, type TableColumn } from '../../parts/table.tsx';

const cellOf = (role: string, resource: string): string => `${role}/${resource}`;
export const viewerOf = (role: string): string => `role/${encodeURIComponent(role)}`;

export function RowMatrix({ roles: { roles, resources } }: { readonly roles: RolesInForce }) {
  const [counts, setCounts] = useState<ReadonlyMap<string, number>>(new Map());
  const [problem, setProblem] = useState<unknown>();
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const gone = new AbortController();
    setProblem(undefined);
    const wanted = resources.flatMap((resource) =>
      roles
        .filter((role) => role.rows[resource.name] !== undefined)
        .map((role) => ({
          name: cellOf(role.name, resource.name),
          viewer: viewerOf(role.name),
          resource: resource.name,
        })),
    );
    countsOf(wanted, setCounts, gone.signal).catch((error: unknown) => {
      if (!gone.signal.aborted) setProblem(error);
    });
    return () => gone.abort();
  }, [roles, resources, turn]);
  return (
    <>
      {problem === undefined ? null : <Problem error={problem} again={() => setTurn(turn + 1)} />}
      <Table
        label="Records that each role sees"
        class="roles-matrix"
        rows={resources}
        keyOf={({ name }) => name}
        columns={[
          { title: 'Resource', cell: ({ name }) => name },
          ...roles.map(
            (role): TableColumn<ClassedResource> => ({
              ...{ title: role.name, isNumber: true, head: <RoleHead role={role} /> },
              cell: ({ name }) =>
                role.rows[name] === undefined ? (
                  <Absent />
                ) : (
                  <Count count={counts.get(cellOf(role.name, name))} role={role.name} resource={name} />
                ),
            }),
          ),
        ]}
      />
    </>
  );
}

const RoleHead = ({ role }: { readonly role: SeenRole }) => (
  <>
    {role.name} {role.isOwn ? <span class="badge">own</span> : null}
  </>
);

const Absent = () => (
  <span class="hint" title="For this role there is no such resource">
    none
  </span>
);

function Count({
  count,
  role,
  resource,
}: {
  readonly count: number | undefined;
  readonly role: string;
  readonly resource: string;
}) {
  if (count === undefined) return <span class="hint">…</span>;
  return (
    <a href={link(['explore'], { as: viewerOf(role), resource })}>
      {count.toLocaleString('en-US')}
      <span class="visually-hidden">
        {' '}
        records of {resource} for {role}
      </span>
    </a>
  );
}
