/** A service proxy in a process of its own, in the network namespace of a test. The test can kill it like an agent. */
import type { ProxyNode } from '../../../agent/decisions/netfilter/service-targets.js';
import type { HostService } from '../../../agent/decisions/services/host-service.js';
import { NftServiceProxy } from '../../../agent/netfilter/nft-service-proxy.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';

/** First message of the test. */
export interface StartProxy {
  node: ProxyNode;
  /** Checks run this many times as often as on a host. */
  speed: number;
}

export type ToProxy = { start: StartProxy } | { apply: HostService[] };
export type FromProxy = { kind: 'started' | 'applied'; isEffective: boolean; reason: string };

let proxy: NftServiceProxy | undefined;
let reason = '';

async function handle(message: ToProxy): Promise<void> {
  if ('start' in message) {
    const { node, speed } = message.start;
    const clock = {
      ...systemClock,
      after: (delayMs: number, action: () => void) => systemClock.after(delayMs / speed, action),
    };
    proxy = new NftServiceProxy({
      node: () => node,
      onCondition: (condition) => {
        reason = condition.reason;
      },
      clock,
      log: silentLogger,
    });
    await proxy.start();
    send('started');
    return;
  }
  await proxy?.apply(message.apply);
  send('applied');
}

function send(kind: FromProxy['kind']): void {
  process.send?.({ kind, isEffective: proxy?.isEffective ?? false, reason } satisfies FromProxy);
}

process.on('message', (message: ToProxy) => void handle(message));
process.on('disconnect', () => process.exit(0));
