/**
 * Preloaded into a process that is measured: it reports the resources that it has used, on request and at its end, on separate
 * channels.
 */
import { readFileSync, writeSync } from 'node:fs';

/** The file descriptor on which the parent reads the final report. */
const CHANNEL = 3;

process.on('message', (id) => {
  const { user, system } = process.cpuUsage();
  process.send?.({ id, cpu: (user + system) / 1000, memory: process.memoryUsage.rss() });
});
process.channel?.unref();
process.on('disconnect', () => process.exit(1)); // ends with an interrupted benchmark

process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const peak = ownPeak() ?? maxRSS * 1024;
  writeSync(CHANNEL, JSON.stringify({ cpu: (userCPUTime + systemCPUTime) / 1000, peak }));
});

/** Peak memory in bytes; where the system reports it, without the memory of the parent at the start of this process. */
function ownPeak(): number | undefined {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}
