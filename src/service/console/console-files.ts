/**
 * The built files of the console (packages/console), and the page that loads them at any URL of the console. It must
 * not know what the page shows.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { platError } from '../../errors/index.ts';
import type { Reply } from '../exchange.ts';

/** The folder of the built files; its relative path is the same in a checkout and in the installed package. */
const FOLDER = fileURLToPath(new URL('../../../dist/console/', import.meta.url));

export const CONSOLE_ROOT = '/console';

/** The content security policy: the page may load only what this service serves, and no inline script or style. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "font-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
};

interface Built {
  readonly type: string;
  readonly body: Buffer;
}

let files: ReadonlyMap<string, Built> | undefined;

/** Reads the files, by name. They are few and small, and their names change with their content. */
function built(): ReadonlyMap<string, Built> {
  files ??= new Map(
    existsSync(FOLDER)
      ? readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
          .filter((name) => TYPES[extname(name)] !== undefined)
          .map((name) => [
            name.replaceAll('\\', '/'),
            { type: TYPES[extname(name)] ?? '', body: readFileSync(join(FOLDER, name)) },
          ])
      : [],
  );
  return files;
}

/**
 * A file of the console, or its page.
 * @param path below the root of the console, without a leading slash
 * @throws PlatError `pathNotFound` for an unknown file, `consoleMissing` if the console was not built
 */
export function consoleReply(path: string): Reply {
  const page = built().get('index.html');
  if (page === undefined) throw platError('consoleMissing', {});
  const file = built().get(path);
  if (file === undefined && path.startsWith('assets/')) throw platError('pathNotFound', { path });
  const { type, body } = file ?? page;
  const isAsset = path.startsWith('assets/');
  const headers = {
    'content-type': type,
    ...(isAsset ? { 'cache-control': 'public, max-age=31536000, immutable' } : {}),
    'content-security-policy': POLICY,
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  };
  return { status: 200, headers, body: [body] };
}
