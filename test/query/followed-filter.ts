/**
 * Follows a filter through the files of the query room while it is parsed and bound: the number of stays in each file, and of returns
 * to a file that it was in before. Each exported function reports its beginning and its end; calls within a file are part of one
 * stay.
 */
import { registerHooks } from 'node:module';

const MARK = '?followed';
const REPORTS = 'platFollowedFilter';

export interface Way {
  /** The files in the order of their first stay, relative to `src/query/`. */
  readonly files: readonly string[];
  readonly stays: number;
  readonly returns: number;
}

/** The modules in a folder, each of whose exported functions calls `entered`. */
async function load<T>(source: URL, module: string, entered: (file: string) => () => void): Promise<T> {
  const room = new URL('query/', source).href;
  Object.assign(globalThis, {
    [REPORTS]:
      (file: string, called: (...given: unknown[]) => unknown) =>
      (...given: unknown[]) => {
        const left = entered(file);
        try {
          return called(...given);
        } finally {
          left();
        }
      },
  });
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      const isFollowed = context.parentURL?.endsWith(MARK) === true && found.url.startsWith(room);
      return isFollowed ? { ...found, url: `${found.url}${MARK}` } : found;
    },
    load(url, context, next) {
      if (!url.endsWith(MARK)) return next(url, context);
      const found = next(url.slice(0, -MARK.length), context);
      const file = JSON.stringify(url.slice(room.length, -MARK.length));
      const text = String(found.source).replaceAll(/^export const (?=\w+ = )/gm, 'export let ');
      const names = [...text.matchAll(/^export (?:function|let) (\w+)/gm)].map(([, name]) => name);
      const wrapped = names.map(
        (name) => `if (typeof ${name} === 'function') ${name} = globalThis.${REPORTS}(${file}, ${name});`,
      );
      return { ...found, source: `${text}\n${wrapped.join('\n')}\n` };
    },
  });
  try {
    return await import(new URL(`${module}${MARK}`, room).href);
  } finally {
    hooks.deregister();
  }
}

/** The files that a filter visits when a function of a module reads it. */
export async function follow<T>(source: URL, module: string, read: (loaded: T) => unknown): Promise<Way> {
  const stays: string[] = [];
  const open: string[] = [];
  const stay = (file: string | undefined): void => {
    if (file !== undefined && stays.at(-1) !== file) stays.push(file);
  };
  const loaded = await load<T>(source, module, (file) => {
    open.push(file);
    stay(file);
    return () => {
      open.pop();
      stay(open.at(-1));
    };
  });
  stays.length = 0;
  read(loaded);
  const files = [...new Set(stays)];
  return { files, stays: stays.length, returns: stays.length - files.length };
}
