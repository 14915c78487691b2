/** `GET /apis/fleet.everynode.dev/v1/joinaddress`: what a join line says besides the token, for whoever may make tokens. */
import { createHash, X509Certificate } from 'node:crypto';
import { FLEET_GROUP } from '../../shared/kube/fleet-group.js';
import type { JoinAddress } from '../../shared/kube/join-address.js';
import { publicKeyHash } from '../../shared/link/public-key-hash.js';
import { SCRIPT_PATH } from './agent-files.js';
import { type Answer, ok } from './answer.js';
import type { ApiParts, ApiRequest } from './api-request.js';
import type { JoinFacts } from './join-facts.js';
import type { ResourceRequest } from './request-info.js';
import { methodNotAllowed } from './status-response.js';

/** Whether a request that names no stored kind is one for this file. */
export function isJoinAddressRequest({ group, version, resource, name }: ResourceRequest): boolean {
  return group === FLEET_GROUP && version === 'v1' && resource === 'joinaddress' && name === undefined;
}

/** Throws 405 for any verb but list (GET). */
export async function answerJoinAddress({ joining }: ApiParts, { info }: ApiRequest): Promise<Answer> {
  if (info.verb !== 'list') throw methodNotAllowed();
  return ok(joinAddress(await joining()));
}

/** Pure. */
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
