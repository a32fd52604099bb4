/** A name with its value, in a list of such facts (`dl`). */
import type { ComponentChildren } from 'preact';

interface FactProps {
  readonly name: ComponentChildren;
  /** A longer name, which appears when the pointer is over it. */
  readonly title?: string;
  readonly children: ComponentChildren;
}

export const Fact = ({ name, title, children }: FactProps) => (
  <div>
    <dt title={title}>{name}</dt>
    <dd>{children}</dd>
  </div>
);
