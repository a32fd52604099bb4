/** JSON that plat keeps in rows of its own. It knows no engine, and nothing of what the JSON means. */
import { Damage } from './damage.ts';

/** @throws Damage when the text is none. @param what as a message names it: "its settings" */
export function storedJson(text: unknown, what: string): unknown {
  try {
    return JSON.parse(String(text));
  } catch (cause) {
    throw new Damage(`${what} are no JSON`, { cause });
  }
}

/** A row of the account of a source. */
export const storedState = (row: Readonly<Record<string, unknown>>): unknown =>
  storedJson(row.value, `the notes on a source (${String(row.name)})`);
