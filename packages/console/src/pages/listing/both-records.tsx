/**
 * The record of a listing as both interfaces return it to the role or key, field by field, including what they hide and, on
 * request, compared with what the operator sees.
 */

import { pathSeenBy, type Viewer } from '../../app/api.ts';
import { change, query } from '../../app/route.ts';
import { Check, Select } from '../../parts/choices.tsx';
import { type Fields, hiddenFields, ownFields, recordPath } from '../../parts/listing-record.ts';
import { isOwn, nameOfViewer } from '../../parts/see-as.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { useAnswer } from '../../parts/use-loaded.ts';
import { isEmpty } from '../../parts/words.ts';

interface NativeAnswer {
  readonly D: {
    readonly Results: readonly {
      readonly StandardFields: Fields;
      readonly CustomFields?: readonly Readonly<
        Record<string, readonly Readonly<Record<string, readonly Fields[]>>[]>
      >[];
    }[];
  };
}

/** The part of the JSON `$metadata` that has the native names of custom fields. */
type Model = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, Fields>>>>>>;
const LOCAL_NAME = '@MLS.OData.Metadata.LocalName';

/** The name of a listing's field in the native interface. */
const nativeName = (field: string): string =>
  field.replace(/^((?:Co)?(?:List|Buyer)(?:Agent|Office))Key$/, '$1Id');

/** The native record as a flat list of names and values; custom fields are named `Group: Name`, as in `$metadata`. */
function nativeFields({ D }: NativeAnswer): ReadonlyMap<string, unknown> {
  const [record] = D.Results;
  const fields = new Map<string, unknown>(Object.entries(record?.StandardFields ?? {}));
  for (const sections of record?.CustomFields ?? [])
    for (const groups of Object.values(sections))
      for (const group of groups)
        for (const [title, members] of Object.entries(group))
          for (const member of members)
            for (const [name, value] of Object.entries(member)) fields.set(`${title}: ${name}`, value);
  return fields;
}

/** The local names of a listing's custom fields, by their names in the RESO interface. */
function localNames(model: Model): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const schema of Object.values(model)) {
    if (typeof schema !== 'object') continue;
    for (const [field, said] of Object.entries(schema.Property ?? {})) {
      const local = said?.[LOCAL_NAME];
      if (typeof local === 'string') names.set(field, local);
    }
  }
  return names;
}

interface Row {
  readonly name: string;
  readonly native: string;
  readonly isHidden: boolean;
}

export interface BothRecordsProps {
  readonly viewer: Viewer;
  readonly listing: string;
  /** As the RESO interface returns it, with annotations. */
  readonly record: Fields;
}

const CHOICES = [
  ['', 'fields with a value or hidden'],
  ['hidden', 'hidden fields'],
  ['all', 'all fields'],
] as const;

export function BothRecords({ viewer, listing, record }: BothRecordsProps) {
  const reso = pathSeenBy(viewer, 'api', recordPath(listing));
  const native = pathSeenBy(
    viewer,
    'api',
    `/v1/listings/${encodeURIComponent(listing)}?_expand=CustomFields`,
  );
  const isCompared = query.value.get('beside') === 'operator' && !isOwn(viewer);
  const [asked, again] = useAnswer<NativeAnswer>(native);
  const [own, askOwn] = useAnswer<Fields>(
    isCompared ? pathSeenBy('role/private', 'api', recordPath(listing)) : undefined,
  );
  // Reads the operator's `$metadata`: that of the role does not contain hidden fields.
  const [model, askModel] = useAnswer<Model>(
    pathSeenBy('role/private', 'api', '/Reso/OData/$metadata?$format=json'),
  );
  if (asked.kind === 'failed') return <Problem error={asked.error} again={again} />;
  if (model.kind === 'failed') return <Problem error={model.error} again={askModel} />;
  if (isCompared && own.kind === 'failed') return <Problem error={own.error} again={askOwn} />;
  if (asked.kind === 'loading' || model.kind === 'loading') return <Loading what="the record" />;
  const ownRecord = isCompared && own.kind === 'loaded' ? own.value.body : undefined;
  return (
    <RecordTable
      viewer={viewer}
      record={record}
      native={nativeFields(asked.value.body)}
      locals={localNames(model.value.body)}
      own={ownRecord}
      addresses={{ reso, native }}
    />
  );
}

interface RecordTableProps {
  readonly viewer: Viewer;
  readonly record: Fields;
  readonly native: ReadonlyMap<string, unknown>;
  readonly locals: ReadonlyMap<string, string>;
  readonly own: Fields | undefined;
  readonly addresses: { readonly reso: string; readonly native: string };
}

/** The fields of both interfaces, each once, by name. */
function rowsOf({ record, native, locals }: RecordTableProps): readonly Row[] {
  const hidden = hiddenFields(record);
  const names = [...ownFields(record).map(([name]) => name), ...hidden];
  const rows = names.map((name) => ({
    name,
    native: locals.get(name) ?? nativeName(name),
    isHidden: hidden.has(name),
  }));
  const paired = new Set(rows.map((row) => row.native));
  const only = [...native.keys()].filter((name) => !paired.has(name));
  return [...rows, ...only.map((name) => ({ name, native: name, isHidden: false }))].toSorted(
    (left, right) => (left.name < right.name ? -1 : 1),
  );
}

function RecordTable(props: RecordTableProps) {
  const { viewer, record, native, own, addresses } = props;
  const choice = query.value.get('fields') ?? '';
  const wanted = query.value.get('find') ?? '';
  const sought = wanted.toLowerCase();
  const rows = rowsOf(props);
  const isShown = ({ name, native: other, isHidden }: Row): boolean => {
    if (choice === 'hidden' && !isHidden) return false;
    if (
      choice === '' &&
      !isHidden &&
      isEmpty(record[name]) &&
      isEmpty(native.get(other)) &&
      isEmpty(own?.[name])
    )
      return false;
    return [name, other, plain(record[name])].join(' ').toLowerCase().includes(sought);
  };
  const shown = rows.filter(isShown);
  const hidden = rows.filter(({ isHidden }) => isHidden).length;
  return (
    <section aria-labelledby="record">
      <h2 id="record">The record in both interfaces</h2>
      <p>
        {isOwn(viewer)
          ? 'The operator sees every field. Choose a role above to see what it hides.'
          : `${hidden === 1 ? 'One field is' : `${hidden} fields are`} hidden from ${nameOfViewer(viewer)}.`}{' '}
        As JSON:{' '}
        <a href={addresses.reso} target="_blank" rel="noreferrer noopener">
          RESO<span class="visually-hidden"> (opens a new tab)</span>
        </a>
        ,{' '}
        <a href={addresses.native} target="_blank" rel="noreferrer noopener">
          native<span class="visually-hidden"> (opens a new tab)</span>
        </a>
      </p>
      <search class="row">
        <label>
          Find a field{' '}
          <input
            type="search"
            value={wanted}
            onInput={({ currentTarget }) => change({ find: currentTarget.value }, true)}
          />
        </label>
        <label>
          Show <Select value={choice} choose={(fields) => change({ fields }, true)} options={CHOICES} />
        </label>
        {isOwn(viewer) ? null : (
          <Check
            class="check"
            isOn={query.value.get('beside') === 'operator'}
            set={(isOn) => change({ beside: isOn ? 'operator' : undefined }, true)}
          >
            Compare with the operator
          </Check>
        )}
        <output class="hint">{shown.length === 1 ? '1 field' : `${shown.length} fields`}</output>
      </search>
      {shown.length === 0 ? (
        <Empty title="No such field" />
      ) : (
        <Table
          label="Fields of both interfaces"
          class="both"
          rows={shown}
          keyOf={({ name }) => name}
          rowClass={({ isHidden }) => (isHidden ? 'is-hidden' : undefined)}
          columns={[
            { title: 'Field', cell: nameIn },
            { title: 'RESO', cell: (row) => shownIn(record, own, row) },
            { title: 'Native', cell: (row) => plain(native.get(row.native)) },
            ...(own === undefined
              ? []
              : [{ title: 'The operator sees', cell: ({ name }: Row) => plain(own[name]) }]),
          ]}
        />
      )}
    </section>
  );
}

const nameIn = ({ name, native }: Row) => (
  <>
    <span class="mono">{name}</span>
    {native === name ? null : <span class="hint-inline"> native: {native}</span>}
  </>
);

/** A value of the RESO interface, or why there is none. @param own what the operator sees, if it is compared */
function shownIn(record: Fields, own: Fields | undefined, { name, isHidden }: Row) {
  if (isHidden) return <span class="badge warn">hidden</span>;
  const isWithheld = own !== undefined && isEmpty(record[name]) && !isEmpty(own[name]);
  return isWithheld ? <span class="badge warn">withheld</span> : plain(record[name]);
}

/** A value as the interface returns it. */
function plain(value: unknown): string {
  if (value === undefined) return '–';
  if (Array.isArray(value)) return `[${value.map((each) => JSON.stringify(each)).join(', ')}]`;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
