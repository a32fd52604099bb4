/** The row filter of each role for a resource. */
import { Fact } from '../../parts/fact.tsx';
import type { ClassedResource, RolesInForce } from '../../parts/roles-in-force.ts';

export const RowRules = ({
  roles: { roles, day },
  resource,
}: {
  readonly roles: RolesInForce;
  readonly resource: ClassedResource;
}) => (
  <dl class="card roles-rules">
    {roles.map(({ name, rows }) => {
      const seen = rows[resource.name];
      return (
        <Fact key={name} name={name}>
          {seen === undefined ? (
            'None: for this role there is no such resource.'
          ) : seen.filter === '' ? (
            'Every record.'
          ) : (
            <>
              <code>{seen.filter}</code>
              {seen.today === undefined ? null : (
                <span class="hint">
                  On {day}: <code>{seen.today}</code>
                </span>
              )}
            </>
          )}
        </Fact>
      );
    })}
  </dl>
);
