/** The service proxy: rules for ClusterIPs and node ports in the kernel, through the `nft` command. */
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock } from '../../shared/process/time/clock.js';
import type { ProxyNode } from '../decisions/netfilter/service-targets.js';
import type { HostService, ServiceProxy } from '../decisions/services/host-service.js';

/** The Node's condition `ServiceProxy`, without its times. */
export interface ServiceProxyCondition {
  type: 'ServiceProxy';
  status: 'True' | 'False';
  /** `RulesInEffect`, `NftMissing`, `NoCapability`, `KernelUnsupported` or `RulesRejected`. */
  reason: string;
  message: string;
}

export interface NftServiceProxyOptions {
  /** Facts about this node; read for each update. */
  node: () => ProxyNode;
  /** Called with the condition at the start, and when it changes. */
  onCondition: (condition: ServiceProxyCondition) => void;
  clock: Clock;
  log: Logger;
}

export class NftServiceProxy implements ServiceProxy {
  constructor(private readonly options: NftServiceProxyOptions) {}

  get isEffective(): boolean {
    return false;
  }

  /** Resolves when it is known whether rules can be applied on this host. */
  async start(): Promise<void> {
    const message = 'the service proxy is not implemented';
    this.options.onCondition({ type: 'ServiceProxy', status: 'False', reason: 'KernelUnsupported', message });
  }

  /** Leaves the rules in the kernel, so that connections go on while the agent restarts. */
  async stop(): Promise<void> {}

  async apply(_services: readonly HostService[]): Promise<void> {}
}
