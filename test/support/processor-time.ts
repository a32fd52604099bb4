/** CPU time of this thread so far, in milliseconds; it does not depend on what other processes do. */
export function processorTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
