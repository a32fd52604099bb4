/** What a page shows as the service gives it to programs: the JSON itself, and the command that asks for it. */
import { Copy } from './copy.tsx';
import './same-as-request.css';

/**
 * @param here where this page gets it
 * @param outside its address for whoever has a token
 * @param owner the kind or role of the key that the token is of, for people: "an admin key"
 */
export function SameAsRequest({
  here,
  outside,
  owner,
}: {
  readonly here: string;
  readonly outside: string;
  readonly owner: string;
}) {
  const command = `curl -g -H "Authorization: Bearer $TOKEN" '${outside.replaceAll("'", '%27')}'`;
  return (
    <section class="as-request">
      <h2>The same as a request</h2>
      <div class="row">
        <a class="button quiet" href={here} target="_blank" rel="noreferrer">
          JSON
        </a>
        <Copy text={command} what="the command" />
      </div>
      <pre>{command}</pre>
      <p class="hint">
        Put the token of {owner} in place of <code>$TOKEN</code>.
      </p>
    </section>
  );
}
