/** The value of a field in a cell of a table. */
import type { ComponentChildren } from 'preact';
import { link } from '../../app/route.ts';
import type { Row } from './request.ts';
import type { FieldInfo } from './schema.ts';

/** What the native interface returns in place of a value that the role may not see. */
const HIDDEN = '********';

/** Fields whose numbers are amounts, rather than years or numbers of items. */
const AMOUNT = /Price|Amount|Fee|Income|Expense|Value|Area$|SquareFeet|Tax/;

export function Cell({ field, value }: { readonly field: FieldInfo | undefined; readonly value: unknown }) {
  if (value === HIDDEN) return <span class="soft">hidden</span>;
  const text = textOf(field, value);
  if (text === '') return <span class="soft">–</span>;
  return <span title={text.length > 24 ? text : undefined}>{text}</span>;
}

function textOf(field: FieldInfo | undefined, value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) {
    const parts: readonly unknown[] = value;
    return parts.some((part) => typeof part === 'object')
      ? `${parts.length} ${parts.length === 1 ? 'record' : 'records'}`
      : parts.join(', ');
  }
  switch (typeof value) {
    case 'boolean':
      return value ? 'Yes' : 'No';
    case 'number':
      return field !== undefined && AMOUNT.test(field.name) ? value.toLocaleString('en-US') : String(value);
    case 'string':
      return field?.kind === 'timestamp'
        ? value.replace('T', ' ').replace(/(?::\d\d)?(?:\.\d+)?Z$/, ' UTC')
        : value;
    default:
      return nameOf(value);
  }
}

/** The name or key of a nested record. */
function nameOf(record: object): string {
  const entries: readonly [string, unknown][] = Object.entries(record);
  const named =
    entries.find(([name]) => /FullName$|Name$/.test(name)) ??
    entries.find(([name]) => /Key$|^Id$/.test(name));
  return named === undefined ? JSON.stringify(record) : String(named[1]);
}

/** The address of the page of the listing that a record is or belongs to; undefined: there is none. */
export function listingOf(resource: string, row: Row, as: string): string | undefined {
  const key =
    row.ResourceName === undefined || row.ResourceName === 'Property'
      ? (row.ListingKey ?? row.ResourceRecordKey)
      : undefined;
  return typeof key === 'string' && resource !== 'Lookup' ? link(['listing', key], { as }) : undefined;
}

/** The fields that are links to the listing: its key, and fields by which people identify it. */
export const LISTING_FIELDS: ReadonlySet<string> = new Set([
  'ListingKey',
  'ResourceRecordKey',
  'UnparsedAddress',
]);

/** The width of a column in pixels, according to its content. */
export function widthOf(field: FieldInfo | undefined, title: string, isKey: boolean): number {
  const head = Math.min(title.length * 9 + 44, 260);
  if (isKey) return Math.max(head, 280);
  switch (field?.kind) {
    case 'integer':
    case 'decimal':
    case 'boolean':
      return Math.max(head, 100);
    case 'date':
      return Math.max(head, 120);
    case 'timestamp':
      return Math.max(head, 190);
    default:
      return Math.max(head, /Address|Remarks|Directions|Description/.test(field?.name ?? '') ? 320 : 160);
  }
}

export const isNumber = (field: FieldInfo | undefined): boolean =>
  field !== undefined && !field.isList && (field.kind === 'integer' || field.kind === 'decimal');

export const cellsOf = (
  row: Row,
  columns: readonly string[],
  fields: ReadonlyMap<string, FieldInfo>,
  listing: string | undefined,
): readonly ComponentChildren[] =>
  columns.map((name) =>
    listing !== undefined && LISTING_FIELDS.has(name) && typeof row[name] === 'string' ? (
      <a key={name} href={listing}>
        {row[name]}
      </a>
    ) : (
      <Cell key={name} field={fields.get(name)} value={row[name]} />
    ),
  );
