/** Milliseconds that this thread has computed so far: what other processes do meanwhile does not count. */
export function processorTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
