/** The Node's condition `ServiceProxy`: whether ClusterIPs and node ports work on the host, and what to do if not. */

/** The condition without its times. */
export interface ServiceProxyCondition {
  type: 'ServiceProxy';
  status: 'True' | 'False';
  reason: 'RulesInEffect' | 'NftMissing' | 'NoCapability' | 'KernelUnsupported' | 'RulesRejected';
  message: string;
}

export type ServiceProxyState =
  | { state: 'effective' }
  | { state: 'missing' }
  | { state: 'notPermitted' }
  | { state: 'unsupported' | 'rejected'; error: string };

const CONSEQUENCE = "DNS answers with addresses of endpoints instead of a Service's ClusterIP.";

export function serviceProxyCondition(proxy: ServiceProxyState): ServiceProxyCondition {
  const type = 'ServiceProxy';
  if (proxy.state === 'effective') {
    const message = 'rules for ClusterIPs and node ports are in effect';
    return { type, status: 'True', reason: 'RulesInEffect', message };
  }
  const [reason, message] = failure(proxy);
  return { type, status: 'False', reason, message: `${message} ${CONSEQUENCE}` };
}

function failure(
  proxy: Exclude<ServiceProxyState, { state: 'effective' }>,
): [ServiceProxyCondition['reason'], string] {
  switch (proxy.state) {
    case 'missing':
      return ['NftMissing', 'The host has no nft command: install the package nftables.'];
    case 'notPermitted':
      return [
        'NoCapability',
        'The agent may not change netfilter rules: run it as root or with CAP_NET_ADMIN, in the network namespace of the host.',
      ];
    case 'unsupported':
      return [
        'KernelUnsupported',
        `The kernel or nft lacks a feature that the rules need (Linux 5.13 and nft 1.0.1 have all): ${proxy.error}`,
      ];
    case 'rejected':
      return ['RulesRejected', `The kernel rejected the rules; the agent retries: ${proxy.error}`];
  }
}
