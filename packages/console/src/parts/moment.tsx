/** A time: how long ago it was, and the exact time. */
import { ago, moment } from './figures.ts';

/** @param none the text if there is no time */
export const Moment = ({ at, none = '–' }: { readonly at: string | null; readonly none?: string }) =>
  at === null ? (
    <span class="hint">{none}</span>
  ) : (
    <time dateTime={at} title={moment(at)}>
      {ago(at)}
    </time>
  );
