/**
 * What a page shows as the service gives it to programs: the JSON itself, the command that requests it, and a file of
 * its table.
 */
import { type Eyes, type SurfaceName, seenThrough, session } from '../app/api.ts';
import { Copy } from './copy.tsx';
import { csvOf } from './csv.ts';
import { save } from './save.ts';
import { nameOfEyes } from './see-as.tsx';
import './same-as-request.css';

type Row = Readonly<Record<string, unknown>>;

/** The content of a view as a table. Its columns are the members that its rows have. */
export interface AsTable {
  /** The name of the file, without its ending. */
  readonly name: string;
  readonly rows: () => readonly Row[];
}

/** The request of an address for a terminal; `$TOKEN` stands for the token of a key. */
export const commandOf = (address: string): string =>
  `curl -g -H "Authorization: Bearer $TOKEN" '${address.replaceAll("'", '%27')}'`;

function saveTable({ name, rows }: AsTable): void {
  const all = rows();
  const columns = [...new Set(all.flatMap((row) => Object.keys(row)))];
  save(`${name}.csv`, 'text/csv;charset=utf-8', csvOf(columns, all));
}

interface SameAsRequestProps {
  /** What it is, where a page has several: "The last day". */
  readonly of?: string;
  /** Where this page gets it. */
  readonly here: string;
  /** Its address for whoever has a token. */
  readonly outside: string;
  /** The kind or role of the key that the token is of, for people: "an admin key". */
  readonly owner: string;
  readonly table: AsTable;
}

function SameAsRequest({ of, here, outside, owner, table }: SameAsRequestProps) {
  const command = commandOf(outside);
  const what = of === undefined ? '' : `: ${of.charAt(0).toLowerCase()}${of.slice(1)}`;
  return (
    <details class="as-request">
      <summary>The same as a request{what}</summary>
      <div class="row">
        <a class="button quiet" href={here} target="_blank" rel="noreferrer">
          JSON
        </a>
        <button type="button" class="quiet" onClick={() => saveTable(table)}>
          CSV
        </button>
        <Copy text={command} what="the command" />
      </div>
      <pre>{command}</pre>
      <p class="hint">
        Put the token of {owner} in place of <code>$TOKEN</code>.
      </p>
    </details>
  );
}

/** What the admin port says. @param path on it */
export const SameAsAdmin = ({
  path,
  ...rest
}: Pick<SameAsRequestProps, 'of' | 'table'> & { readonly path: string }) => (
  <SameAsRequest {...rest} here={path} outside={`${location.origin}${path}`} owner="an admin key" />
);

/** What an interface gives to a role or a key. @param path on its surface */
export function SameAsSeen({
  eyes,
  surface,
  path,
  ...rest
}: Pick<SameAsRequestProps, 'of' | 'table'> & {
  readonly eyes: Eyes;
  readonly surface: SurfaceName;
  readonly path: string;
}) {
  const about = session.value;
  if (typeof about !== 'object') return null;
  const address = about.surfaces.find(({ name }) => name === surface)?.address ?? '';
  const owner = eyes.startsWith('key/') ? nameOfEyes(eyes) : `a key of ${nameOfEyes(eyes)}`;
  return (
    <SameAsRequest
      {...rest}
      here={seenThrough(eyes, surface, path)}
      outside={`${address.replace(/\/$/, '')}${path}`}
      owner={owner}
    />
  );
}
