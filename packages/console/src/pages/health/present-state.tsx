/** The current state: whether the service is ready, the reasons if it is not, and the requests of the current minute. */
import { isAway } from '../../app/connection.ts';
import { present } from '../../app/live.ts';
import { Fact } from '../../parts/fact.tsx';
import { second, whole } from '../../parts/figures.ts';
import { SURFACES } from './surfaces.ts';

export function PresentState() {
  const now = present.value;
  if (isAway.value || now === undefined || now === 'away') {
    const words = isAway.value ? 'Unreachable' : now === 'away' ? 'Store unavailable' : 'Connecting …';
    return (
      <section class="card present" aria-label="The present">
        <p>
          <span class={`badge ${now === undefined && !isAway.value ? '' : 'bad'}`}>{words}</span>
        </p>
      </section>
    );
  }
  const problems = Object.entries(now.problems);
  return (
    <section class="card present" aria-label="The present">
      <p class="row">
        <output>
          <span class={`badge ${problems.length === 0 ? 'good' : 'bad'}`}>
            {problems.length === 0 ? 'Ready' : 'Not ready'}
          </span>
        </output>
        <span class="hint">Live, as of {second(now.at)}</span>
      </p>
      {problems.length === 0 ? null : (
        <ul class="problem">
          {problems.map(([name, text]) => (
            <li key={name}>
              <strong>{name}</strong>: {text}
            </li>
          ))}
        </ul>
      )}
      <h2>Requests of this minute</h2>
      <dl class="numbers">
        {SURFACES.map(({ name, title }) => {
          const { requests, failed } = now.surfaces[name] ?? { requests: 0, failed: 0 };
          return (
            <Fact key={name} name={title}>
              {whole(requests)}
              {failed > 0 ? <span class="problem"> · {whole(failed)} failed</span> : null}
            </Fact>
          );
        })}
      </dl>
    </section>
  );
}
