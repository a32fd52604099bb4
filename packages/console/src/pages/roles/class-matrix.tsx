/** The classes of a resource's fields that each role sees, with the fields of each class. */
import { classWords } from '../../parts/class-words.ts';
import type { ClassedResource, RolesInForce, SeenRole } from '../../parts/roles-in-force.ts';
import { ScrollBox } from '../../parts/scroll-box.tsx';

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
      <ScrollBox label={`Fields of ${resource.name} by class`}>
        <table class="roles-matrix">
          <thead>
            <tr>
              <th scope="col">Class</th>
              {readers.map(({ name }) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {classes
              .flatMap((kind) => {
                const fields = resource.fields[kind];
                return fields === undefined ? [] : [{ kind, fields }];
              })
              .map(({ kind, fields }) => (
                <tr key={kind}>
                  <th scope="row">
                    {kind}
                    <span class="hint">{classWords(kind) ?? 'A custom class'}</span>
                    <details>
                      <summary>
                        {fields.length} {fields.length === 1 ? 'field' : 'fields'}
                      </summary>
                      <span class="hint">{fields.join(', ')}</span>
                    </details>
                  </th>
                  {readers.map((role) => (
                    <td key={role.name}>
                      <Cell
                        count={role.classes.includes(kind) ? fields.length : 0}
                        isWithheld={isWithheld(role, kind)}
                      />
                    </td>
                  ))}
                </tr>
              ))}
          </tbody>
        </table>
      </ScrollBox>
      {rules.map((rule) => (
        <p class="hint" key={rule.shownWhen}>
          <span class="badge warn">at times withheld</span> {rule.classes.join(' and ')}: empty, except in
          records where <code>{rule.shownWhen}</code>
        </p>
      ))}
    </>
  );
}

function Cell({ count, isWithheld }: { readonly count: number; readonly isWithheld: boolean }) {
  if (count === 0) return <span class="badge">hidden</span>;
  return (
    <>
      <span class="badge good">sees {count}</span>{' '}
      {isWithheld ? <span class="badge warn">at times withheld</span> : null}
    </>
  );
}
