/** The classes of a resource's fields that each role sees, with the fields of each class. */
import { classWords } from '../../parts/class-words.ts';
import type { ClassedResource, RolesInForce, SeenRole } from '../../parts/roles-in-force.ts';
import { Table, type TableColumn } from '../../parts/table.tsx';

interface FieldsOfClass {
  readonly kind: string;
  readonly fields: readonly string[];
}

export function ClassMatrix({
  roles: { roles, classes, withheld },
  resource,
}: {
  readonly roles: RolesInForce;
  readonly resource: ClassedResource;
}) {
  const readers = roles.filter((role) => role.rows[resource.name] !== undefined);
  const rules = withheld.filter((rule) => rule.resource === resource.name);
  const isWithheld = (role: SeenRole, kind: string): boolean =>
    !role.seesWithheld && rules.some((rule) => rule.classes.includes(kind));
  return (
    <>
      <Table
        label={`Fields of ${resource.name} by class`}
        class="roles-matrix"
        rows={classes.flatMap((kind) => {
          const fields = resource.fields[kind];
          return fields === undefined ? [] : [{ kind, fields }];
        })}
        keyOf={({ kind }) => kind}
        columns={[
          { title: 'Class', cell: ({ kind, fields }) => <ClassHead kind={kind} fields={fields} /> },
          ...readers.map(
            (role): TableColumn<FieldsOfClass> => ({
              title: role.name,
              cell: ({ kind, fields }) => (
                <Cell
                  count={role.classes.includes(kind) ? fields.length : 0}
                  isWithheld={isWithheld(role, kind)}
                />
              ),
            }),
          ),
        ]}
      />
      {rules.map((rule) => (
        <p class="hint" key={rule.shownWhen}>
          <span class="badge warn">at times withheld</span> {rule.classes.join(' and ')}: empty, except in
          records where <code>{rule.shownWhen}</code>
        </p>
      ))}
    </>
  );
}

const ClassHead = ({ kind, fields }: FieldsOfClass) => (
  <>
    {kind}
    <span class="hint">{classWords(kind) ?? 'A custom class'}</span>
    <details>
      <summary>
        {fields.length} {fields.length === 1 ? 'field' : 'fields'}
      </summary>
      <span class="hint">{fields.join(', ')}</span>
    </details>
  </>
);

function Cell({ count, isWithheld }: { readonly count: number; readonly isWithheld: boolean }) {
  if (count === 0) return <span class="badge">hidden</span>;
  return (
    <>
      <span class="badge good">sees {count}</span>{' '}
      {isWithheld ? <span class="badge warn">at times withheld</span> : null}
    </>
  );
}
