/** The preferences of a request that plat honours (OData 4.01 protocol, 8.2.8). */
export interface Preferences {
  readonly maxPageSize?: number;
  readonly omitNulls: boolean;
  /** Whether annotations such as `Core.Permissions` are wanted in place of hidden fields. */
  readonly annotations: boolean;
}

/** Preferences are separated by commas, outside quotes (RFC 7240, 2). */
const ELEMENT = /(?:[^",]|"(?:[^"\\]|\\.)*")+/g;
/** A preference with its value; what follows a semicolon are parameters, of which none is known here. */
const PREFERENCE = /^\s*(?:odata\.)?([\w.-]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*)))?\s*(?:;|$)/i;

export function parsePreferences(header: string | undefined): Preferences {
  let maxPageSize: number | undefined;
  let omitNulls = false;
  let annotations = false;
  const seen = new Set<string>();
  for (const [element] of (header ?? '').matchAll(ELEMENT)) {
    const [, given = '', quoted, plain = ''] = PREFERENCE.exec(element) ?? [];
    const name = given.toLowerCase();
    const value = quoted ?? plain;
    if (seen.has(name)) continue; // the first one counts
    seen.add(name);
    switch (name) {
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
