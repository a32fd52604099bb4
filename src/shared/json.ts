/** Narrows the types of parsed JSON without casts. This module does not know what the values mean. */

declare global {
  interface JSON {
    rawJSON(text: string): object;
  }
}

/** A number that a double cannot represent, with the text in which it was written. `JSON.stringify` writes the same digits. */
export class LongNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }

  toJSON(): object {
    return JSON.rawJSON(this.text);
  }
}

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The objects of a list; none for any other value. */
export const objectsIn = (value: unknown): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

/** Parses a text; undefined if it is not JSON. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
