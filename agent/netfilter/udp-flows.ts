/** Lists and removes connections of UDP with the `conntrack` command, if the host has it. */
import { execFile, spawn } from 'node:child_process';
import { networkInterfaces } from 'node:os';
import { createInterface } from 'node:readline';
import type { NftRuleset } from '../decisions/netfilter/nft-ruleset.js';
import {
  readUdpFlow,
  staleUdpFlows,
  type UdpFlow,
  unservedUdpFlows,
} from '../decisions/netfilter/stale-udp-flows.js';

const TIMEOUT_MS = 10_000;

/**
 * Removes the connections that the rules do not serve. `before`: the former rules; undefined if unknown, as after a
 * start of the agent. Resolves at the end, whatever the outcome.
 */
export async function forgetUdpFlows(before: NftRuleset | undefined, now: NftRuleset): Promise<void> {
  const own = ownAddresses();
  if (before) {
    await deleteFlows(staleUdpFlows(before, now, own));
    return;
  }
  if (now.udpEndpoints.size === 0) return;
  const ports = new Set([...now.udpEndpoints.keys()].map((key) => key.split(' ')[1]));
  await deleteFlows(unservedUdpFlows(await listFlows(ports), now, own));
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ family, internal }) => family === 'IPv4' && !internal)
    .map(({ address }) => address);
}

/** Reads line by line, because a busy host has a hundred thousand connections. */
async function listFlows(ports: ReadonlySet<string | undefined>): Promise<UdpFlow[]> {
  const child = spawn('conntrack', ['-L', '-p', 'udp'], {
    ...{ timeout: TIMEOUT_MS, env: environment() },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  // A host without the command has an empty list.
  child.on('error', () => undefined);
  const flows: UdpFlow[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const flow = readUdpFlow(line);
    if (flow && ports.has(flow.port)) flows.push(flow);
  }
  return flows;
}

/** Runs conntrack once for each group of arguments. */
async function deleteFlows(deletions: readonly string[][]): Promise<void> {
  for (const args of deletions) {
    const isMissing = await new Promise<boolean>((resolve) => {
      // The command fails if there was nothing to delete.
      const options = { timeout: TIMEOUT_MS, env: environment() };
      execFile('conntrack', args, options, (error) => resolve(error?.code === 'ENOENT'));
    });
    if (isMissing) return;
  }
}

function environment(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin:/sbin` };
}
