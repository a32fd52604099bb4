/** A box for content that is wider than the page, such as a table. It can also be scrolled with keys. */
import type { ComponentChildren } from 'preact';

export const ScrollBox = ({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ComponentChildren;
}) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with keys
  <section class="scroll" aria-label={label} tabIndex={0}>
    {children}
  </section>
);
