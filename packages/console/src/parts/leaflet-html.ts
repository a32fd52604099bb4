/**
 * Allows Leaflet to start. When it is loaded, it tests for SVG support by writing one element as HTML, which the page's Trusted
 * Types policy forbids. This policy permits exactly that text; any other HTML still fails.
 */
const LOOKED_FOR = '<svg/>';

interface TrustedTypes {
  createPolicy(name: string, rules: { createHTML: (html: string) => string | null }): unknown;
}

const has = (given: object): given is { readonly trustedTypes: TrustedTypes } => 'trustedTypes' in given;

const page: object = globalThis;
if (has(page)) {
  page.trustedTypes.createPolicy('default', {
    createHTML: (html) => (html === LOOKED_FOR ? html : null),
  });
}

export {};
