/** What is wrong with a host, and what to do about it, from facts about it. Pure. */
import {
  connectionRemedy,
  type DiskFact,
  diskFinding,
  expiryFinding,
  type Finding,
} from '../../../shared/doctor/finding.js';

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
  disk: DiskFact;
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

const MIB = 1024 * 1024;
const DISK_LIMITS = {
  /** Below this nothing can be pulled, and the agent starts to evict Pods. */
  least: 500 * MIB,
  little: 2_048 * MIB,
  remedy: 'Free space, for example with docker system df and docker image prune.',
};
/** Certificates are valid from an hour before they are issued. */
const MOST_CLOCK_DIFFERENCE_MS = 60 * 60_000;
const CLOCK_WARNING_MS = 5_000;
/** Certificates are renewed long before. */
const CERTIFICATE_WARNING_MS = 7 * 24 * 60 * 60_000;
const CERTIFICATE_REMEDIES = {
  expired: 'Check the clock. If it is right: everynode-agent uninstall --purge, and join with a new token.',
  soon: 'A running agent renews it. Check that it is connected: systemctl status everynode-agent.',
};

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

const OTHER_REMEDY = 'Compare the address with the output of everynode token create on the coordinator.';

/** Returns all findings, in the order in which a host needs things. */
export function hostFindings(facts: HostFacts): Finding[] {
  return [
    systemFinding(facts),
    engineFinding(facts),
    cgroupFinding(facts),
    nftablesFinding(facts),
    diskFinding(facts.disk, DISK_LIMITS),
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
  const certificate = { what: `the certificate of node ${node}`, endsAt: certificateEndsAt };
  const remedies = CERTIFICATE_REMEDIES;
  return expiryFinding(certificate, { check: 'identity', now, soonMs: CERTIFICATE_WARNING_MS, remedies });
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
  const remedy = connectionRemedy(code) ?? OTHER_REMEDY;
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
