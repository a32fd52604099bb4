/** The preferences of a request that plat honours (OData 4.01 protocol, 8.2.8). */
export interface Preferences {
  readonly maxPageSize?: number;
  readonly omitNulls: boolean;
  /** Whether annotations such as `Core.Permissions` are wanted in place of hidden fields. */
  readonly annotations: boolean;
}

const PREFERENCE = /(?:odata\.)?([\w-]+)\s*(?:=\s*("(?:[^"\\]|\\.)*"|[^\s,;]+))?/gi;

export function parsePreferences(header: string | undefined): Preferences {
  let maxPageSize: number | undefined;
  let omitNulls = false;
  let annotations = false;
  for (const [, name = '', quoted = ''] of (header ?? '').matchAll(PREFERENCE)) {
    const value = quoted.replace(/^"|"$/g, '');
    switch (name.toLowerCase()) {
      case 'maxpagesize':
        if (/^[1-9]\d{0,8}$/.test(value)) maxPageSize = Number(value);
        break;
      case 'omit-values':
        omitNulls = value.toLowerCase() === 'nulls';
        break;
      case 'include-annotations':
        annotations = wantsPermissions(value);
        break;
    }
  }
  return { ...(maxPageSize === undefined ? {} : { maxPageSize }), omitNulls, annotations };
}

/** Patterns of annotations, the most specific last; a minus sign excludes (8.2.8.4). */
function wantsPermissions(patterns: string): boolean {
  let wanted = false;
  for (const pattern of patterns.split(',').map((each) => each.trim())) {
    const name = pattern.replace(/^-/, '').replace(/^Org\.OData\.Core\.V1\./, 'Core.');
    if (['*', 'Core.*', 'Core.Permissions'].includes(name)) wanted = !pattern.startsWith('-');
  }
  return wanted;
}
