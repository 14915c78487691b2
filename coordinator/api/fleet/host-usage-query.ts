/** Requests current resource usage from hosts. */
import { parseHostUsage } from '../../../shared/link/encoding/host-usage-schema.js';
import type { HostUsage } from '../../../shared/link/messages/link-messages.js';
import type { ApiDeps } from '../http/api-context.js';

/** Number of concurrent requests. A host needs up to a second for its response. */
const MAX_CONCURRENT = 64;
/** Slower hosts are left out. */
const HOST_TIMEOUT_MS = 5_000;
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;

type UsageDeps = Pick<ApiDeps, 'streams' | 'clock'>;

/**
 * Returns usage by node name. Hosts that are offline, slow or too old are missing. Returns early if `signal` aborts.
 */
export async function queryHostUsage(
  deps: UsageDeps,
  nodes: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, HostUsage>> {
  const usages = new Map<string, HostUsage>();
  const waiting = [...nodes];
  const queryNext = async (): Promise<void> => {
    for (let node = waiting.shift(); node !== undefined && !signal.aborted; node = waiting.shift()) {
      const usage = await queryHost(deps, node, signal);
      if (usage) usages.set(node, usage);
    }
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, queryNext));
  return usages;
}

async function queryHost(
  { streams, clock }: UsageDeps,
  node: string,
  signal: AbortSignal,
): Promise<HostUsage | undefined> {
  const leave = new AbortController();
  const timer = clock.after(HOST_TIMEOUT_MS, () => leave.abort());
  const ended = AbortSignal.any([signal, leave.signal]);
  try {
    const response = await streams.open(node, { type: 'usage' }, emptyInput(), ended);
    return parseHostUsage((await collectResponse(response)).toString());
  } catch {
    // The host is offline or sent an invalid response.
    return undefined;
  } finally {
    timer.cancel();
    leave.abort();
  }
}

/** Rejects if the host sends more than `limit` bytes. */
export async function collectResponse(
  bytes: AsyncIterable<Uint8Array>,
  limit = MAX_RESPONSE_BYTES,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > limit) throw new Error('the response of the host is too large');
  }
  return Buffer.concat(chunks, length);
}

export async function* emptyInput(): AsyncGenerator<Uint8Array, void> {
  // The request has no input.
}
