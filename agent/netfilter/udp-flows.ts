/** Removes stale connections of UDP with the `conntrack` command, if the host has it. */
import { execFile } from 'node:child_process';

const TIMEOUT_MS = 10_000;

/** Runs conntrack once for each group of arguments. Resolves at the end, whatever the outcome. */
export async function forgetUdpFlows(deletions: readonly string[][]): Promise<void> {
  const env = { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin:/sbin` };
  for (const args of deletions) {
    const isMissing = await new Promise<boolean>((resolve) => {
      // The command fails if there was nothing to delete.
      execFile('conntrack', args, { timeout: TIMEOUT_MS, env }, (error) => resolve(error?.code === 'ENOENT'));
    });
    if (isMissing) return;
  }
}
