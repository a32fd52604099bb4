/**
 * Builds the console (packages/console) into dist/console, from where the service serves it. `npm ci` runs it in a checkout. Where
 * the build tools are not installed, as in production, it does nothing.
 */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../packages/console/', import.meta.url));

function isInstalled(name: string): boolean {
  try {
    createRequire(`${root}package.json`).resolve(name);
    return true;
  } catch {
    return false;
  }
}

if (isInstalled('vite')) {
  const { build } = await import('vite');
  await build({ root, configFile: `${root}vite.config.ts`, logLevel: 'warn' });
} else if (process.env.npm_lifecycle_event !== 'prepare') {
  process.stderr.write('vite is not installed: run "npm ci" first\n');
  process.exitCode = 1;
}
