/** Finds members that stand twice in an object: of these a parser of JSON keeps the last without a word. */

/** How many members all objects in a value have. */
export function countMembers(value: unknown): number {
  if (Array.isArray(value)) {
    let count = 0;
    for (const each of value) if (typeof each === 'object') count += countMembers(each);
    return count;
  }
  if (!isObject(value)) return 0;
  const names = Object.keys(value);
  let count = names.length;
  for (const name of names) {
    const each = value[name];
    if (typeof each === 'object') count += countMembers(each);
  }
  return count;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\]:]/g;

/** The first member of an object that stands in it twice. @param text is JSON */
export function repeatedMember(text: string): string | undefined {
  const objects: (Set<string> | undefined)[] = [];
  let last = '';
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === '{') objects.push(new Set());
    else if (token === '[') objects.push(undefined);
    else if (token === '}' || token === ']') objects.pop();
    else if (token === ':') {
      const name: unknown = JSON.parse(last);
      const members = objects.at(-1);
      if (typeof name !== 'string' || members === undefined) continue;
      if (members.has(name)) return name;
      members.add(name);
    }
    last = token;
  }
  return undefined;
}
