/**
 * Preloaded into a process that is measured: it tells what it used, when it is asked and at its end, on channels of
 * its own.
 */
import { readFileSync, writeSync } from 'node:fs';

/** The file descriptor on which the parent reads the end. */
const CHANNEL = 3;

process.on('message', (id) => {
  const { user, system } = process.cpuUsage();
  process.send?.({ id, cpu: (user + system) / 1000, memory: process.memoryUsage.rss() });
});
process.channel?.unref();
process.on('disconnect', () => process.exit(1)); // a benchmark that broke off leaves nothing behind

process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const peak = ownPeak() ?? maxRSS * 1024;
  writeSync(CHANNEL, JSON.stringify({ cpu: (userCPUTime + systemCPUTime) / 1000, peak }));
});

/** Bytes; where the system tells, without what the parent had used when it started this process. */
function ownPeak(): number | undefined {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}
