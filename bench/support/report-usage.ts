/**
 * Preloaded into a process that is measured: it tells what it used, when it is asked and at its end, on channels of
 * its own.
 */
import { writeSync } from 'node:fs';

/** The file descriptor on which the parent reads the end. */
const CHANNEL = 3;

process.on('message', (id) => {
  const { user, system } = process.cpuUsage();
  process.send?.({ id, cpu: (user + system) / 1000, memory: process.memoryUsage.rss() });
});
process.channel?.unref();

process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  writeSync(CHANNEL, JSON.stringify({ cpu: (userCPUTime + systemCPUTime) / 1000, peak: maxRSS * 1024 }));
});
