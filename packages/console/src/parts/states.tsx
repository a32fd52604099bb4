/** What a part of a page shows while it is loading, when it is empty, and when it has failed. */
import type { ComponentChildren } from 'preact';
import { type Loaded, latestOf } from './use-loaded.ts';

export const Loading = ({ what }: { readonly what: string }) => (
  <output class="state">Loading {what} …</output>
);

/** @param again the action of the retry button; absent: there is no button */
export function Problem({ error, again }: { readonly error: unknown; readonly again?: () => void }) {
  const text = error instanceof Error ? error.message : String(error);
  return (
    <div class="state problem" role="alert">
      <p>{text}</p>
      {again === undefined ? null : (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

export const Empty = ({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}) => (
  <section class="state empty">
    <p class="empty-title">{title}</p>
    {children}
  </section>
);

interface ShownProps<T> {
  readonly of: Loaded<T>;
  /** Loads it again. */
  readonly again: () => void;
  readonly what: string;
  readonly children: (value: T) => ComponentChildren;
}

/** Loaded data: while it is loaded again, the previous data stays. */
export function Shown<T>({ of, again, what, children }: ShownProps<T>) {
  if (of.kind === 'failed') return <Problem error={of.error} again={again} />;
  const value = latestOf(of);
  return value === undefined ? <Loading what={what} /> : children(value);
}
