/** Whom the API takes the other end of a TLS connection for; and a host that a proxy hides, by what its link was given. */

import type { UserInfo } from '../shared/kube/access/rbac-types.js';
import type { Clock } from '../shared/process/time/clock.js';
import type { Authenticator } from './access/identities.js';
import { certificateUser } from './access/user-groups.js';
import type { Hub } from './hub/hub.js';
import { NODE_USER_PREFIX, NODES_GROUP } from './hub/identity/node-subject.js';
import { peerCertificateOf } from './pki/peer-certificate.js';

/** The user of a client certificate. A node's counts while its key is registered, as on its link. */
export function certificateUsers(
  hub: Pick<Hub, 'isRegisteredKey'>,
  clock: Clock,
): (socket: unknown) => UserInfo | undefined {
  return (socket) => {
    const peer = peerCertificateOf(socket, clock.now());
    if (!peer) return undefined;
    const saysNode = peer.organizations.includes(NODES_GROUP) || peer.commonName.startsWith(NODE_USER_PREFIX);
    return saysNode && !hub.isRegisteredKey(peer) ? undefined : certificateUser(peer);
  };
}

/** Knows hosts by the bearers of their links. */
export function linkUsers(hub: Pick<Hub, 'nodeOfBearer'>): Authenticator {
  return (bearer) => {
    const node = hub.nodeOfBearer(bearer);
    if (node === undefined) return undefined;
    return certificateUser({ commonName: `${NODE_USER_PREFIX}${node}`, organizations: [NODES_GROUP] });
  };
}
