/** What is wrong with a host, and what to do about it, from facts about it. Pure. */

/** What `everynode-agent doctor` has found out about this host. Times are ms, sizes bytes. */
export interface HostFacts {
  now: number;
  isRoot: boolean;
  /** Whether systemd is process 1. */
  hasSystemd: boolean;
  engine: { answers: true; name: string; version: string } | { answers: false; reason: string };
  cgroups: 'v2' | 'v1' | 'none';
  /** Whether the kernel and the command for rules of Services work. */
  nftables: 'works' | 'missing' | 'notPermitted' | 'refused';
  /** The file system of the data directory. */
  disk: { path: string; free: number; total: number };
  identity: IdentityFact;
  /** The coordinators that the settings or the identity name. */
  coordinators: readonly CoordinatorFact[];
}

export type IdentityFact =
  | { state: 'none' }
  | { state: 'damaged'; reason: string }
  | { state: 'joined'; node: string; certificateEndsAt: number };

export type CoordinatorFact = { address: string } & (
  | { isReached: true; answeredAfter: number; clock: number | undefined }
  | { isReached: false; reason: string; code: string | undefined }
);

/** One line of the report. `remedy` says what to do. */
export type Finding = { check: string; found: string } & (
  | { result: 'ok' }
  | { result: 'warning' | 'error'; remedy: string }
);

const MIB = 1024 * 1024;
/** Below this nothing can be pulled, and the agent starts to evict Pods. */
const LEAST_FREE = 500 * MIB;
const LITTLE_FREE = 2_048 * MIB;
/** Certificates are valid from an hour before they are issued. */
const MOST_CLOCK_DIFFERENCE_MS = 60 * 60_000;
const CLOCK_WARNING_MS = 5_000;
/** Certificates are renewed long before. */
const CERTIFICATE_WARNING_MS = 7 * 24 * 60 * 60_000;

const NFTABLES: Record<Exclude<HostFacts['nftables'], 'works'>, { found: string; remedy: string }> = {
  missing: { found: 'the command nft is missing', remedy: 'Install the package nftables.' },
  notPermitted: {
    found: 'no right to change rules',
    remedy: 'Run the agent as root, or use headless Services, which need no rules.',
  },
  refused: {
    found: 'the kernel refuses rules',
    remedy: 'Load the kernel module nf_tables, or use headless Services, which need no rules.',
  },
};

const REMEDIES: Readonly<Record<string, string>> = {
  PROXY: 'Check the proxy, its user and password in HTTPS_PROXY, and the exceptions in NO_PROXY.',
  ENOTFOUND: 'Check the name, /etc/resolv.conf and the DNS server.',
  EAI_AGAIN: 'Check /etc/resolv.conf and the DNS server.',
  ECONNREFUSED: 'Check the port, and that the coordinator runs.',
  ETIMEDOUT: 'Check the route and firewalls: the host needs an outgoing TCP connection to this port.',
  EHOSTUNREACH: 'Check the route and firewalls: the host needs an outgoing TCP connection to this port.',
  ENETUNREACH: 'Check the network of this host.',
  CERT_NOT_YET_VALID: 'Set the clock of this host.',
  CERT_HAS_EXPIRED: 'Check the clock of this host, and the certificate of the coordinator.',
};
const OTHER_REMEDY = 'Compare the address with the output of everynode token create on the coordinator.';

/** Returns all findings, in the order in which a host needs things. */
export function hostFindings(facts: HostFacts): Finding[] {
  return [
    systemFinding(facts),
    engineFinding(facts),
    cgroupFinding(facts),
    nftablesFinding(facts),
    diskFinding(facts),
    identityFinding(facts),
    ...coordinatorFindings(facts),
  ];
}

function systemFinding({ isRoot, hasSystemd }: HostFacts): Finding {
  const check = 'system';
  if (!hasSystemd) {
    const remedy =
      'everynode-agent install needs systemd. Without it, start everynode-agent by your own means.';
    return { check, found: 'systemd is not process 1', result: 'warning', remedy };
  }
  if (isRoot) return { check, found: 'systemd, run as root', result: 'ok' };
  const remedy = 'Run this command as root to check what the agent may do. Installing needs root.';
  return { check, found: 'not run as root', result: 'warning', remedy };
}

function engineFinding({ engine }: HostFacts): Finding {
  const check = 'container engine';
  if (engine.answers) return { check, found: `${engine.name} ${engine.version}`, result: 'ok' };
  const remedy =
    'Install Docker or Podman, and start its socket: systemctl enable --now docker, or podman.socket.';
  return { check, found: engine.reason, result: 'error', remedy };
}

function cgroupFinding({ cgroups }: HostFacts): Finding {
  const check = 'cgroups';
  if (cgroups !== 'none') return { check, found: cgroups, result: 'ok' };
  const remedy =
    'Mount a cgroup hierarchy at /sys/fs/cgroup. Without one, limits of memory and CPU have no effect.';
  return { check, found: 'no memory controller', result: 'warning', remedy };
}

function nftablesFinding({ nftables }: HostFacts): Finding {
  const check = 'nftables';
  if (nftables === 'works') return { check, found: 'works', result: 'ok' };
  return { check, result: 'warning', ...NFTABLES[nftables] };
}

function diskFinding({ disk: { path, free, total } }: HostFacts): Finding {
  const check = 'disk';
  const found = `${sizeText(free)} of ${sizeText(total)} free at ${path}`;
  if (free >= LITTLE_FREE) return { check, found, result: 'ok' };
  const remedy = 'Free space, for example with docker system df and docker image prune.';
  return { check, found, result: free < LEAST_FREE ? 'error' : 'warning', remedy };
}

function identityFinding({ identity, now }: HostFacts): Finding {
  const check = 'identity';
  switch (identity.state) {
    case 'none':
      return { check, found: 'this host has not joined yet', result: 'ok' };
    case 'damaged':
      return { check, found: identity.reason, result: 'error', remedy: 'Join again with a new token.' };
    case 'joined':
      return certificateFinding(identity, now);
  }
}

function certificateFinding(
  { node, certificateEndsAt }: IdentityFact & { state: 'joined' },
  now: number,
): Finding {
  const check = 'identity';
  const until = new Date(certificateEndsAt).toISOString();
  if (certificateEndsAt <= now) {
    const remedy =
      'Check the clock. If it is right: everynode-agent uninstall --purge, and join with a new token.';
    return { check, found: `the certificate of node ${node} expired at ${until}`, result: 'error', remedy };
  }
  const found = `node ${node}, certificate valid until ${until}`;
  if (certificateEndsAt - now > CERTIFICATE_WARNING_MS) return { check, found, result: 'ok' };
  const remedy = 'A running agent renews it. Check that it is connected: systemctl status everynode-agent.';
  return { check, found, result: 'warning', remedy };
}

function coordinatorFindings({ coordinators, now }: HostFacts): Finding[] {
  if (coordinators.length === 0) {
    return [{ check: 'coordinator', found: 'none is known; pass --server to check one', result: 'ok' }];
  }
  return coordinators.flatMap((coordinator) => {
    if (!coordinator.isReached) return [unreachedFinding(coordinator)];
    const { address, answeredAfter, clock } = coordinator;
    const found = `${address} answered after ${Math.round(answeredAfter)} ms`;
    const reached: Finding = { check: 'coordinator', found, result: 'ok' };
    return clock === undefined ? [reached] : [reached, clockFinding(now - clock)];
  });
}

function unreachedFinding({ address, reason, code }: CoordinatorFact & { isReached: false }): Finding {
  const remedy = REMEDIES[code ?? ''] ?? OTHER_REMEDY;
  return { check: 'coordinator', found: `${address}: ${reason}`, result: 'error', remedy };
}

function clockFinding(aheadMs: number): Finding {
  const check = 'clock';
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  const found = `${seconds} s ${aheadMs < 0 ? 'behind' : 'ahead of'} the coordinator`;
  if (Math.abs(aheadMs) < CLOCK_WARNING_MS) return { check, found, result: 'ok' };
  const remedy = 'Set the clock: timedatectl set-ntp true.';
  return { check, found, result: Math.abs(aheadMs) > MOST_CLOCK_DIFFERENCE_MS ? 'error' : 'warning', remedy };
}

function sizeText(bytes: number): string {
  return `${(bytes / (1024 * MIB)).toFixed(1)} GiB`;
}
