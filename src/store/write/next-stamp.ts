import { timestampFrom } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import { spanText } from '../clock-jump.ts';

/** What the next timestamp of a store follows from. Moments are milliseconds since 1970. */
export interface StampSource {
  /** Of the clock that stamps. */
  readonly moment: number;
  /** No timestamp is given before it: a reader was told so. */
  readonly settled: number;
  /** Canonical. */
  readonly lastStamp: string;
  /** Milliseconds by which the clock was set ahead, as far as that can be noticed. */
  readonly jump: number;
}

/**
 * @param moment what the clock says without the jump
 * @throws PlatError `clockJumped`
 */
export function mustNotHaveJumped(moment: number, jump: number): void {
  if (jump > 0) {
    throw platError('clockJumped', { clock: timestampFrom(moment + jump), ahead: spanText(jump) });
  }
}

/**
 * The timestamp of the next transaction, never before the last one (I2). Timestamps have their fraction only when it is
 * not zero, so they are compared as times.
 * @param ahead milliseconds that it lies ahead of the clock
 * @throws PlatError `clockJumped`: a timestamp of the future would keep every window empty until then
 */
export function nextStamp({ moment, settled, lastStamp, jump }: StampSource, ahead = 0): string {
  mustNotHaveJumped(moment, jump);
  const now = timestampFrom(Math.max(moment + ahead, settled));
  return Date.parse(now) > Date.parse(lastStamp) ? now : lastStamp;
}
