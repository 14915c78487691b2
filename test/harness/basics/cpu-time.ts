/** Time that work costs, for tests that a hostile input costs little. */

/**
 * Returns a function that returns the milliseconds of CPU that this process has used since. A busy machine lengthens the
 * elapsed time of the same work severalfold, so a limit of elapsed time fails without a fault.
 */
export function startCpuTimer(): () => number {
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
}
