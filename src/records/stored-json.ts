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

/** What stands for a note on a source that is no JSON: no note has this shape, so whoever reads it says so. */
export class UnreadableNote {}

/** A row of the account of a source. One that cannot be read keeps nobody from the others, or from making it anew. */
export function storedState(row: Readonly<Record<string, unknown>>): unknown {
  try {
    return JSON.parse(String(row.value));
  } catch {
    return new UnreadableNote();
  }
}
