/**
 * Lets Leaflet begin: when it is loaded it looks whether the browser draws SVG, by writing one element as HTML, and the policy of
 * the page forbids to write any. Nothing but that one text is let through; whatever else is written as HTML still fails.
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
