/** Join lines for hosts, from the coordinator's API. */

import { type JoinAddress, joinCommand } from '../../../shared/kube/access/join-command.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import type { ApiClient } from './api-client.js';
import { withHost } from './reachable-server.js';

/** The coordinator's address for hosts, and the keys that they pin. `advertise` replaces the host in it. Throws like `request`. */
export async function readJoinAddress(api: ApiClient, advertise?: string): Promise<JoinAddress> {
  const address = await api.request<JoinAddress>('GET', `/apis/${FLEET_GROUP}/v1/joinaddress`);
  return advertise ? { ...address, server: withHost(address.server, advertise) } : address;
}

/** The join token as hosts take it, and the line to type. `token` is `ID.SECRET`. */
export function joinTexts(address: JoinAddress, token: string): { text: string; line: string } {
  return { text: `${token}.${address.authorityHash}`, line: joinCommand(address, token) };
}
