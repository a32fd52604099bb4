/**
 * A browser without a locale, as in a container, reports the language `en-US@posix`, which `Intl` rejects. uPlot passes it to
 * `Intl` when it is loaded, so this module must be loaded first.
 */
try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US' });
}
