/** The steps of a response, from its `Server-Timing` header: a bar, and the numbers. */
import { Fact } from './fact.tsx';
import './timing.css';

interface Span {
  readonly name: string;
  readonly milliseconds: number;
}

/** The spans of the header, in order. */
export const spansOf = (header: string): readonly Span[] =>
  header.split(',').flatMap((part) => {
    const [name = '', ...facts] = part.split(';').map((each) => each.trim());
    const duration = facts.find((fact) => fact.startsWith('dur='))?.slice(4);
    return name === '' || duration === undefined ? [] : [{ name, milliseconds: Number(duration) }];
  });

const WORDS: Readonly<Record<string, string>> = {
  auth: 'key checked',
  parse: 'request read',
  store: 'records read',
  encode: 'answer written',
};

const shown = (milliseconds: number): string => `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`;

/** @param took milliseconds from the request to the end of the response */
export function Timing({ header, took }: { readonly header: string; readonly took: number }) {
  const spans = spansOf(header);
  const inside = spans.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
  const rest = { name: 'rest', milliseconds: Math.max(0, took - inside) };
  const all = [...spans, rest];
  const whole = Math.max(took, inside, 0.1);
  return (
    <div class="timing">
      <div class="timing-bar" aria-hidden="true">
        {all.map(({ name, milliseconds }, at) => (
          <span
            key={name}
            class={`span-${name === 'rest' ? 'rest' : at % 4}`}
            style={{ width: `${(100 * milliseconds) / whole}%` }}
          />
        ))}
      </div>
      <dl>
        {all.map(({ name, milliseconds }, at) => (
          <Fact
            key={name}
            name={
              <>
                <span class={`swatch span-${name === 'rest' ? 'rest' : at % 4}`} aria-hidden="true" />
                {name === 'rest' ? 'network and browser' : (WORDS[name] ?? name)}
              </>
            }
          >
            {shown(milliseconds)}
          </Fact>
        ))}
        <Fact name="total">{shown(took)}</Fact>
      </dl>
    </div>
  );
}
