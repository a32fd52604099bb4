import { platError } from '../errors/index.ts';

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `24h`, `15m`, `7d` in milliseconds. */
export function duration(text: string): number {
  const [, amount, unit = ''] = /^(\d+)([smhd])$/.exec(text) ?? [];
  if (amount === undefined) {
    throw platError('usage', { reason: `${text} is no duration; write 90s, 15m, 24h or 7d.` });
  }
  return Number(amount) * (UNITS[unit] ?? 0);
}
