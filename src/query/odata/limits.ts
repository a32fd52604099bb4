/** Bounds on the work that one request can ask for. Text is bounded by the length of the URL. */

/** Levels of nesting: of the text (parentheses, arguments, lambdas), and of the bound tree. */
export const MAX_DEPTH = 100;
/** Lambdas and counts inside each other: what each ranges over multiplies. */
export const MAX_LAMBDAS = 10;
/** Operators, functions and conditions of one option, aliases and computed names counted where they are used. */
export const MAX_TERMS = 2000;
/**
 * Terms of one request, and characters of its values (a few more for each), counted as often as aliases, computed names
 * and `$levels` put them in: what is written once may stand in thousands of places.
 */
export const MAX_REQUEST_TERMS = 5000;
export const MAX_VALUE_CHARACTERS = 131_072;
/** Values in one list after `in`. */
export const MAX_VALUES = 2000;
/** Expansions of one request, those of `*` and `$levels` counted one by one. */
export const MAX_EXPANSIONS = 100;
/** What `$levels=max` means, and the most that `$levels` takes. */
export const MAX_LEVELS = 5;
