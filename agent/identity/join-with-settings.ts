/** Joins a host by its settings, with errors for the user who typed them. */

import { tunnelOpener } from '../../shared/link/forward-proxy/proxy-tunnel.js';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import { readJoinToken } from '../../shared/process/settings/join-token-source.js';
import type { AgentSettings } from '../program/agent-settings.js';
import { JoinError, toExitError } from './coordinator-client.js';
import { hasJoined } from './identity-file.js';
import {
  type Enrolment,
  joinCoordinator,
  parseServers,
  rejectTokenOfOtherCoordinator,
} from './join-coordinator.js';

/**
 * Resolves with the host's enrolment, after joining if necessary, and the addresses of `--server`. `onWaiting` is called
 * while an operator has to approve the host. An installation rejects a token of another coordinator; a starting agent
 * ignores an old token. Throws `ExitError`.
 */
export async function joinWithSettings(
  { data: dataDir, nodeName: node, server, labels, ...given }: JoinSettings,
  onWaiting: (message: string) => void,
  isInstallation = false,
): Promise<{ enrolment: Enrolment; servers: string[] }> {
  if (server === undefined) {
    throw new ExitError(EXIT_CODES.usage, 'No coordinator address: pass --server https://HOST:PORT.');
  }
  try {
    const servers = parseServers(server).map((address) => address.server.origin);
    // A host that has joined needs no token; the token file may have been deleted.
    const token = isInstallation || !(await hasJoined(dataDir)) ? await readJoinToken(given) : undefined;
    if (isInstallation && token) await rejectTokenOfOtherCoordinator(dataDir, token);
    const enrolment = await joinCoordinator({
      dataDir,
      server,
      node,
      labels,
      onWaiting,
      tunnel: tunnelOpener(given),
      ...(token ? { token } : {}),
    });
    return { enrolment, servers };
  } catch (error) {
    if (!(error instanceof JoinError)) throw error;
    throw toExitError(error);
  }
}

export type JoinSettings = Pick<
  AgentSettings,
  'data' | 'nodeName' | 'server' | 'token' | 'tokenFile' | 'labels' | 'httpsProxy' | 'noProxy'
>;
