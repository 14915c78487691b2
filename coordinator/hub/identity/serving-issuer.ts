/** Issues certificates for the kubelet's port of hosts. */
import { isIP } from 'node:net';
import type { RequestServing, ServingIssued } from '../../../shared/link/messages/link-messages.js';
import { nodeServingNames } from '../../decisions/identity/node-serving-names.js';
import type { CertificateAuthority } from '../../pki/certificate-authority.js';
import type { CoordinatorList } from '../sessions/coordinator-list-sender.js';
import { readNodeRequest } from './join-candidate.js';

export type ServingAuthority = Pick<
  CertificateAuthority,
  'read' | 'signServing' | 'clientAuthorities' | 'isOwnName'
>;

interface ServingIssuerDeps {
  authority: ServingAuthority;
  coordinators?: CoordinatorList;
}

/** Returns a certificate for the node of a proved link. Throws ApiError 400. */
export async function issueServing(
  { authority, coordinators }: ServingIssuerDeps,
  node: string,
  { csr, addresses }: RequestServing,
): Promise<Omit<ServingIssued, 'kind'>> {
  await readNodeRequest(authority, csr, node);
  const list = [...(coordinators?.list() ?? []).map(hostOf), ...(coordinators?.machineNames() ?? [])];
  const members = new Set(list.map((name) => name.toLowerCase()));
  const names = nodeServingNames({
    node,
    addresses,
    isAddress: (text) => isIP(text) !== 0,
    isCoordinator: (name) => members.has(name.toLowerCase()) || authority.isOwnName(name),
  });
  return {
    certificate: await authority.signServing({ node, requestPem: csr }, names),
    clientCa: authority.clientAuthorities(),
  };
}

/** Returns the host of `https://HOST:PORT`, without the brackets of an IPv6 address. */
function hostOf(address: string): string {
  return new URL(address).hostname.replace(/^\[|\]$/g, '');
}
