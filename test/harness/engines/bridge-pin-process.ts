/** Fixes the address of an engine's bridge from a process in the engine's network namespace, as the agent does on a host. */
import { BridgePin } from '../../../agent/runtime/bridge-pin.js';
import { silentLogger } from '../../../shared/process/output/logger.js';

/** From the test: addresses of Pods. The process replies when it has handled them. */
export interface PinRequest {
  podAddresses: string[];
}

export interface PinResponse {
  isSettled: boolean;
}

const bridge = new BridgePin({ network: () => Promise.resolve('own'), log: silentLogger });

process.on('message', async ({ podAddresses }: PinRequest) => {
  await bridge.pin(podAddresses);
  process.send?.({ isSettled: bridge.isSettled() } satisfies PinResponse);
});
process.on('disconnect', () => process.exit(0));
