import { Damage } from './damage.ts';

/** The members of a multi-valued field from its column. @throws Damage when it holds no list */
export function storedList(text: string): string[] {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch (cause) {
    throw new Damage('a column that holds lists holds something else', { cause });
  }
  return Array.isArray(list) ? list.map(String) : [];
}
