/** The enrolment of a host by its settings, with words for whoever typed them. */
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import type { AgentSettings } from '../program/agent-settings.js';
import { JoinError, toExitError } from './coordinator-client.js';
import { hasJoined } from './identity-file.js';
import {
  type Enrolment,
  joinCoordinator,
  parseServer,
  rejectTokenOfOtherCoordinator,
} from './join-coordinator.js';
import { readJoinToken } from './join-token-source.js';

/**
 * The node that this host is, joined now if it had not; and the coordinator. `onWaiting` hears why it takes long: a person
 * has to let it in. A person who installs is told when the token is of another coordinator; an agent that starts may have
 * an old one, and needs none. Throws `ExitError`.
 */
export async function joinWithSettings(
  { data: dataDir, nodeName: node, server, labels, ...given }: JoinSettings,
  onWaiting: (message: string) => void,
  isInstallation = false,
): Promise<{ enrolment: Enrolment; server: URL }> {
  if (server === undefined) {
    throw new ExitError(EXIT_CODES.usage, 'The coordinator is not named: give --server https://HOST:PORT.');
  }
  try {
    const url = parseServer(server);
    // Do not read the token on a host that has joined: its file may be gone.
    const token = isInstallation || !(await hasJoined(dataDir)) ? await readJoinToken(given) : undefined;
    if (isInstallation && token) await rejectTokenOfOtherCoordinator(dataDir, token);
    const enrolment = await joinCoordinator({
      dataDir,
      server,
      node,
      labels,
      onWaiting,
      ...(token ? { token } : {}),
    });
    return { enrolment, server: url };
  } catch (error) {
    if (!(error instanceof JoinError)) throw error;
    throw toExitError(error);
  }
}

export type JoinSettings = Pick<
  AgentSettings,
  'data' | 'nodeName' | 'server' | 'token' | 'tokenFile' | 'labels'
>;
