/** The content of a page as programs get it: the JSON, the command that requests it, and its table as a file. */
import { pathSeenBy, type SurfaceName, session, type Viewer } from '../app/api.ts';
import { Copy } from './copy.tsx';
import { csvOf } from './csv.ts';
import { save } from './save.ts';
import { nameOfViewer } from './see-as.tsx';
import './same-as-request.css';

type Row = Readonly<Record<string, unknown>>;

/** The content of a view as a table. The members of its rows are its columns. */
export interface AsTable {
  /** The name of the file, without its extension. */
  readonly name: string;
  readonly rows: () => readonly Row[];
}

/** The request for an address as a shell command; `$TOKEN` stands for the token of a key. */
export const commandOf = (address: string): string =>
  `curl -g -H "Authorization: Bearer $TOKEN" '${address.replaceAll("'", '%27')}'`;

function saveTable({ name, rows }: AsTable): void {
  const all = rows();
  const columns = [...new Set(all.flatMap((row) => Object.keys(row)))];
  save(`${name}.csv`, 'text/csv;charset=utf-8', csvOf(columns, all));
}

interface SameAsRequestProps {
  /** What it refers to, if a page has several: "The last day". */
  readonly of?: string;
  /** The address from which this page requests it. */
  readonly here: string;
  /** The address for clients with a token. */
  readonly outside: string;
  /** The kind or role of the key, for people: "an admin key". */
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

/** A response of the admin port. @param path on it */
export const SameAsAdmin = ({
  path,
  ...rest
}: Pick<SameAsRequestProps, 'of' | 'table'> & { readonly path: string }) => (
  <SameAsRequest {...rest} here={path} outside={`${location.origin}${path}`} owner="an admin key" />
);

/** A response of an interface to a role or key. @param path on its surface */
export function SameAsSeen({
  viewer,
  surface,
  path,
  ...rest
}: Pick<SameAsRequestProps, 'of' | 'table'> & {
  readonly viewer: Viewer;
  readonly surface: SurfaceName;
  readonly path: string;
}) {
  const about = session.value;
  if (typeof about !== 'object') return null;
  const address = about.surfaces.find(({ name }) => name === surface)?.address ?? '';
  const owner = viewer.startsWith('key/') ? nameOfViewer(viewer) : `a key of ${nameOfViewer(viewer)}`;
  return (
    <SameAsRequest
      {...rest}
      here={pathSeenBy(viewer, surface, path)}
      outside={`${address.replace(/\/$/, '')}${path}`}
      owner={owner}
    />
  );
}
