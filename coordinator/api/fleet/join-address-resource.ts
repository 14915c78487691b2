/**
 * `GET /apis/fleet.everynode.dev/v1/joinaddress`: the parts of a join command other than the token, for users who may
 * create tokens.
 */
import { createHash, X509Certificate } from 'node:crypto';
import type { JoinAddress } from '../../../shared/kube/access/join-command.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import { publicKeyHash } from '../../../shared/link/public-key-hash.js';
import { computedResource } from '../discovery/served-resource.js';
import { type ApiDeps, type ApiResponse, ok } from '../http/api-context.js';
import { SCRIPT_PATH } from '../join/agent-downloads.js';
import type { JoinFacts } from '../ports.js';

export const JOIN_ADDRESS_RESOURCE = computedResource('JoinAddress', 'joinaddress', ['list']);

export async function handleJoinAddress({ joinFacts }: ApiDeps): Promise<ApiResponse> {
  return ok(joinAddress(await joinFacts()));
}

function joinAddress({ server, authority, serving, hasRelease, approval }: JoinFacts): JoinAddress {
  const der = new X509Certificate(serving).publicKey.export({ type: 'spki', format: 'der' });
  const pin = createHash('sha256').update(der).digest('base64');
  return {
    ...{ kind: 'JoinAddress', apiVersion: `${FLEET_GROUP}/v1`, server },
    authorityHash: publicKeyHash(new X509Certificate(authority)),
    ...(hasRelease ? { installer: { path: SCRIPT_PATH, pin } } : {}),
    approval,
  };
}
