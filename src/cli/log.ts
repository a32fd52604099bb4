import { type Logger, pino } from 'pino';
import { logStream } from './terminal.ts';

/** Logs go to stderr as JSON lines; tokens never are in them. */
export function makeLog(level: string): Logger {
  const redact = { paths: ['*.authorization', 'authorization', '*.token', 'token'], censor: '[hidden]' };
  return pino(
    { level, redact, base: undefined, timestamp: pino.stdTimeFunctions.isoTime },
    logStream(pino.destination),
  );
}
