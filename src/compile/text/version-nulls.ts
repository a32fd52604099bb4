/**
 * The nulls of fields by the version of the profile with which a text was written: a text lacks the nulls of fields that came into
 * use later. This module knows no records.
 */
import type { Field } from '../../dictionary/index.ts';
import { column, constantText, integer, join, type Sql, sql } from '../fragment.ts';

/** Writes a null member. */
type MemberText = (field: Field) => string;
type Since = (field: Field) => number;

/**
 * The nulls that a text of an older version lacks, as a constant per version; undefined if all fields are as old as the store.
 */
export function missingNulls(
  alias: string,
  fields: readonly Field[],
  since: Since,
  memberOf: MemberText,
): Sql | undefined {
  return textByVersion(alias, fields, since, (version) =>
    fields
      .filter((field) => since(field) > version)
      .map(memberOf)
      .join(''),
  );
}

/** Nulls of all fields that a text of its version contains. */
export function nullsByVersion(
  alias: string,
  fields: readonly Field[],
  since: Since,
  memberOf: MemberText,
): Sql {
  const upTo = (version: number): string =>
    fields
      .filter((field) => since(field) <= version)
      .map(memberOf)
      .join('');
  return textByVersion(alias, fields, since, upTo) ?? constantText(upTo(FIRST_VERSION));
}

/** Profiles are numbered from 1; no text is older. */
const FIRST_VERSION = 1;

function textByVersion(
  alias: string,
  fields: readonly Field[],
  since: Since,
  textOf: (version: number) => string,
): Sql | undefined {
  const later = new Set(fields.map(since).filter((version) => version > FIRST_VERSION));
  if (later.size === 0) return undefined;
  const branches = [...later]
    .toSorted((left, right) => right - left)
    .map(
      (version) =>
        sql`WHEN ${column(alias, '_profile')} >= ${integer(version)} THEN ${constantText(textOf(version))}`,
    );
  return sql`CASE ${join(branches, ' ')} ELSE ${constantText(textOf(FIRST_VERSION))} END`;
}
