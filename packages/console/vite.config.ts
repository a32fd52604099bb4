import { defineConfig } from 'vite';

export default defineConfig({
  base: '/console/',
  build: {
    outDir: '../../dist/console',
    emptyOutDir: true,
    // Nothing may come as data: URL, which the policy of the page forbids for scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
});
