/** The system query options of OData 4.01, without dollar; `levels` stands only inside `$expand`. */
export const SYSTEM_OPTIONS = [
  'filter',
  'orderby',
  'select',
  'expand',
  'compute',
  'search',
  'count',
  'top',
  'skip',
  'skiptoken',
  'format',
  'schemaversion',
  'index',
  'id',
  'apply',
  'deltatoken',
] as const;

export type SystemOption = (typeof SYSTEM_OPTIONS)[number];

/** Options whose value has a syntax of its own. */
export const PARSED_OPTIONS = [
  'filter',
  'orderby',
  'select',
  'expand',
  'compute',
  'search',
  'count',
  'top',
  'skip',
  'levels',
] as const;

export type ParsedOption = (typeof PARSED_OPTIONS)[number];

/** The option of a name with or without dollar, in any case (OData 4.01 URL conventions, 5.1). */
export function optionOf<O extends string>(name: string, known: Iterable<O>): O | undefined {
  const plain = (name.startsWith('$') ? name.slice(1) : name).toLowerCase();
  for (const option of known) if (option === plain) return option;
  return undefined;
}
