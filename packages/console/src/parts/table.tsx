/**
 * A table whose rows are all in the document, in a box that scrolls if the table is wider than the page. This module must not know
 * what its rows are.
 */
import type { ComponentChildren } from 'preact';
import { ScrollBox } from './scroll-box.tsx';

export interface TableColumn<Row> {
  /** Distinguishes the columns of a table. */
  readonly title: string;
  /** What its head shows instead of the title. */
  readonly head?: ComponentChildren;
  readonly cell: (row: Row) => ComponentChildren;
  readonly isNumber?: boolean;
  /** The class of its cells. */
  readonly class?: string;
}

interface TableProps<Row> {
  /** The content of the table, for people. */
  readonly label: string;
  readonly class?: string;
  readonly columns: readonly TableColumn<Row>[];
  /** The title of the column that names a row; by default, that of the first one. */
  readonly named?: string;
  readonly rows: readonly Row[];
  /** Identifies a row. */
  readonly keyOf: (row: Row) => string;
  readonly rowClass?: (row: Row) => string | undefined;
}

export function Table<Row>({ label, columns, rows, keyOf, rowClass, ...given }: TableProps<Row>) {
  const { class: kind, named = columns[0]?.title } = given;
  return (
    <ScrollBox label={label}>
      <table class={kind}>
        <thead>
          <tr>
            {columns.map(({ title, head = title, isNumber }) => (
              <th key={title} scope="col" class={isNumber ? 'number' : undefined}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} class={rowClass?.(row)}>
              {columns.map((column) => cellOf(column, row, column.title === named))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  );
}

function cellOf<Row>({ title, cell, isNumber, class: own }: TableColumn<Row>, row: Row, isName: boolean) {
  const kind = isNumber ? `number ${own ?? ''}`.trim() : own;
  return isName ? (
    <th key={title} scope="row" class={kind}>
      {cell(row)}
    </th>
  ) : (
    <td key={title} class={kind}>
      {cell(row)}
    </td>
  );
}
