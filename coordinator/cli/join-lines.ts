/** What is typed on a host that is to join. */

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { VERSION } from '../../shared/process/version.js';
import { SCRIPT_PATH } from '../api/agent-files.js';
import { releaseDirectory } from '../data-dir.js';
import type { ApiClient } from './api-client.js';
import { reachableServer } from './reachable-server.js';

/**
 * The line for a host that has the agent, and before it, where the coordinator has agents to give, the one for a host that
 * has nothing: curl takes the script from the holder of the coordinator's key and from nobody else, whatever lies in between.
 */
export async function joinLines(
  api: ApiClient,
  token: string,
  dataDir: string,
  advertise?: string,
): Promise<string[]> {
  const server = await reachableServer(api.server, advertise);
  const plain = `everynode-agent --server ${server} --token ${token}`;
  if (!existsSync(join(releaseDirectory(dataDir), VERSION, 'SHA256SUMS'))) return [plain];
  const pin = `sha256//${await servingKeyHash(api)}`;
  const script = `curl -fsSk --pinnedpubkey '${pin}' ${server}${SCRIPT_PATH}`;
  return [`${script} | sudo sh -s -- --token ${token}`];
}

/** Base64 SHA-256 of the public key that the coordinator serves with, as curl pins it. Its authority is checked. */
function servingKeyHash({ server, certificateAuthority }: ApiClient): Promise<string> {
  const { hostname, port } = new URL(server);
  const host = hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(port || 443), ca: certificateAuthority }, () => {
      const certificate = socket.getPeerX509Certificate();
      socket.destroy();
      if (!certificate) return reject(new Error('the coordinator presents no certificate'));
      const der = certificate.publicKey.export({ type: 'spki', format: 'der' });
      resolve(createHash('sha256').update(der).digest('base64'));
    });
    socket.once('error', reject);
  });
}
