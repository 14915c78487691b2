/** Removes what the agent has added to the host's own network for Services. */
import { removeDnsAddress } from '../dns/serving/host-network.js';
import { removeServiceRules } from '../netfilter/nft-table.js';

/**
 * To be called after the agent has stopped. Resolves with true if rules were removed. Keeps all of it while another agent
 * of this host serves the cluster DNS, because both use the same address and rules.
 */
export async function removeHostNetwork(): Promise<boolean> {
  return (await removeDnsAddress()) && (await removeServiceRules());
}
