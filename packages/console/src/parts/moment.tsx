/** A moment: how long ago it was, and when exactly. */
import { ago, moment } from './figures.ts';

/** @param none what stands there without one */
export const Moment = ({ at, none = '–' }: { readonly at: string | null; readonly none?: string }) =>
  at === null ? (
    <span class="hint">{none}</span>
  ) : (
    <time dateTime={at} title={moment(at)}>
      {ago(at)}
    </time>
  );
