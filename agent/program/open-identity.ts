/** Joins the host, and opens its identity. */
import { tunnelOpener } from '../../shared/link/forward-proxy/proxy-tunnel.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock } from '../../shared/process/time/clock.js';
import { systemRandom } from '../../shared/process/time/random.js';
import { CertificateRenewer } from '../identity/certificate-renewer.js';
import { openCoordinatorAddresses } from '../identity/coordinator-address-file.js';
import { coordinatorPoster } from '../identity/coordinator-post.js';
import { HostIdentity } from '../identity/host-identity.js';
import { joinWithSettings } from '../identity/join-with-settings.js';
import type { AgentSettings } from './agent-settings.js';

type Joined = Awaited<ReturnType<typeof joinWithSettings>>;

interface JoinContext {
  settings: AgentSettings;
  log: Logger;
  /** Called while an operator has to approve this host. */
  onWaiting?: (message: string) => void;
  /** Resolves when the agent has to stop. */
  stop?: Promise<unknown>;
}

/** Resolves with the enrolment; undefined if the agent has to stop first, because an approval may take days. */
export function joinUnlessStopped({
  settings,
  log,
  onWaiting,
  stop,
}: JoinContext): Promise<Joined | undefined> {
  const joining = joinWithSettings(settings, (message) => {
    log.warn(message);
    onWaiting?.(message);
  });
  return stop ? Promise.race([joining, stop.then(() => undefined)]) : joining;
}

/** Opens the identity of a host that has joined, and the addresses of its coordinators. */
export async function openIdentity(
  { enrolment, servers }: Joined,
  { settings, clock, log }: { settings: AgentSettings; clock: Clock; log: Logger },
) {
  const { data } = settings;
  const addresses = await openCoordinatorAddresses(data, servers, log.child({ component: 'link' }));
  const server = () => addresses.server;
  const identity = new HostIdentity(addresses, data, enrolment, tunnelOpener(settings, clock));
  const certificates = new CertificateRenewer({
    ...{ identity, server, clock, random: systemRandom },
    log: log.child({ component: 'certificates' }),
  });
  const releases = { server, ca: () => identity.ca, tunnel: identity.tunnel };
  return { identity, certificates, server, releases, post: coordinatorPoster(server, identity) };
}
