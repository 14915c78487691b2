/** Mixes: which steps a history may contain, and how often. Each mix has a name. */
import type { Fault, Step, UserStep } from './history.js';

/** The weight of each kind of step. */
export type Mix = Record<(UserStep | Fault)['kind'], number>;

const USERS: Omit<Mix, Fault['kind']> = {
  'create daemonset': 3,
  'set image': 8,
  'set strategy': 2,
  'set selector': 2,
  'delete daemonset': 1,
  'label node': 4,
  'taint node': 3,
  'delete pod': 3,
  'evict pod': 1,
  'create pod': 1,
  'replace pod': 1,
  'delete node': 1,
  'create tolerant pod': 0,
  'cordon node': 0,
  'set policy': 0,
  'set host policy': 0,
  freeze: 0,
  'pause policy': 0,
  'approve wave': 0,
  'delete policy': 0,
  'create classes': 0,
  'rank daemonset': 0,
  'create ranked pod': 0,
  'delete ranked pod': 0,
  'create rivals': 0,
  wait: 0,
  'use values': 0,
  'set values': 0,
  'delete values': 0,
  'create job': 0,
  'suspend job': 0,
  'rerun job': 0,
  'set parallelism': 0,
  'delete job': 0,
  'delete job result': 0,
  'edit job pod': 0,
};

const FAULTS: Omit<Mix, UserStep['kind']> = {
  'kill agent': 5,
  'stop agent': 1,
  'kill coordinator': 5,
  'stop coordinator': 1,
  'coordinator fault': 0,
  'cut power': 2,
  'cut cable': 4,
  'cut zone': 0,
  'reset connections': 3,
  'stop engine': 2,
  'end container': 3,
  'jump clock': 1,
  'fill disk': 1,
  'back up': 0,
  'restore backup': 0,
  'fill host disk': 0,
  'busy host': 0,
  'spoil turn': 0,
  'press host': 0,
  'starve host': 0,
  'hang engine': 0,
  'remove container': 0,
  'write manifest': 0,
  'add host': 0,
};

const NO_FAULTS = Object.fromEntries(Object.keys(FAULTS).map((kind) => [kind, 0])) as typeof FAULTS;

/** User steps in rollouts with waves. */
const WAVES = { 'set policy': 3, 'pause policy': 1, 'approve wave': 4, 'delete policy': 0.3 };

/** Policies with handovers, and hosts that lock updates. */
const TURNS = {
  ...WAVES,
  'set policy': 0.5,
  'set host policy': 5,
  freeze: 1,
  'busy host': 5,
  'spoil turn': 1,
};

/** Faults of a single host. */
const TROUBLE = {
  'fill host disk': 3,
  'press host': 4,
  'hang engine': 3,
  'remove container': 3,
  'write manifest': 4,
  'create tolerant pod': 3,
  'cordon node': 2,
};

/** DaemonSets whose Pods use values of their hosts. */
const VALUES = { 'use values': 6, 'set values': 16, 'delete values': 2, 'label node': 6, 'add host': 1 };

/** DaemonJobs, and people who delete, suspend and repeat them. */
const JOBS = {
  'create job': 8,
  'suspend job': 4,
  'rerun job': 4,
  'set parallelism': 2,
  'delete job': 1.5,
  'delete job result': 1,
  'edit job pod': 1,
  'add host': 2,
};

/** Users who wait for rollouts: most of their steps are releases. */
const LEISURELY = {
  ...USERS,
  ...NO_FAULTS,
  'set image': 12,
  'set strategy': 0.5,
  'set selector': 0.3,
  'delete daemonset': 0.3,
  'label node': 0.5,
  'taint node': 0.5,
  'create pod': 0,
  'replace pod': 0,
  'delete node': 0,
};

/** True for a user step. All other steps are faults. */
export function isUserStep(step: Step): step is Step & UserStep {
  return Object.hasOwn(USERS, step.kind);
}

/** The mixes by name. */
export const MIXES = {
  all: { ...USERS, ...FAULTS },
  /** No faults: a failure here needs only unlucky timing. */
  calm: { ...USERS, ...NO_FAULTS },
  /** Rollouts in which agents and coordinators are killed. */
  rollouts: {
    ...USERS,
    ...NO_FAULTS,
    'set image': 20,
    'kill agent': 8,
    'kill coordinator': 8,
    'end container': 4,
  },
  /** Deletions of all kinds while hosts are unreachable. */
  deletions: {
    ...USERS,
    ...FAULTS,
    'delete pod': 14,
    'delete daemonset': 4,
    'replace pod': 8,
    'delete node': 4,
    'create daemonset': 6,
  },
  /** Machines that lose the time when they restart. */
  clocks: { ...USERS, ...FAULTS, 'jump clock': 14, 'cut power': 6 },
  /** Restored backups: changes since the backup must not stop a container. */
  restores: { ...USERS, ...FAULTS, 'delete node': 0, 'back up': 4, 'restore backup': 2 },
  /** Rollouts with waves. */
  waves: {
    ...USERS,
    ...FAULTS,
    ...WAVES,
    'set image': 16,
    'set strategy': 1,
    'delete node': 0.3,
  },
  /** Rollouts with handovers: in windows, with update locks and reverts. */
  turns: {
    ...USERS,
    ...FAULTS,
    ...TURNS,
    'set image': 16,
    'set strategy': 1,
    'cut power': 3,
    'cut cable': 6,
    'delete node': 0.3,
  },
  /** Hosts with shortages, hanging engines or manual changes, and static Pods. */
  hosts: { ...USERS, ...FAULTS, ...TROUBLE, 'taint node': 5 },
  /** Hosts that evict Pods under resource pressure. */
  pressure: { ...USERS, ...FAULTS, ...TROUBLE, 'press host': 0, 'starve host': 8, 'create pod': 3 },
  /** Zones that become unreachable, alone or all at once, and Pods with a limited toleration. */
  zones: {
    ...USERS,
    ...FAULTS,
    'cut zone': 8,
    'cut cable': 8,
    'create tolerant pod': 10,
    'cordon node': 1,
    'kill coordinator': 3,
  },
  /** Handovers that busy hosts postpone, up to the limit and longer. */
  holds: {
    ...LEISURELY,
    'set host policy': 3,
    'approve wave': 2,
    'busy host': 10,
    'kill agent': 2,
    'kill coordinator': 2,
    'cut power': 1,
    'cut cable': 1,
    wait: 6,
  },
  /** Successors that are not ready, lose the coordinator or reboot with their host: hosts revert them. */
  reverts: {
    ...LEISURELY,
    'set host policy': 3,
    'approve wave': 2,
    'spoil turn': 8,
    'cut cable': 2,
    'cut power': 2,
    'kill agent': 2,
    'kill coordinator': 2,
    'end container': 2,
    'stop engine': 1,
    wait: 6,
  },
  /** All or half of the hosts are unreachable for minutes, while Pods use up their tolerations. */
  darkness: {
    ...USERS,
    ...NO_FAULTS,
    'set image': 2,
    'taint node': 1,
    'create tolerant pod': 12,
    'cordon node': 1,
    'cut zone': 8,
    'cut cable': 2,
    'cut power': 1,
    'kill coordinator': 2,
    'jump clock': 0.5,
    wait: 8,
  },
  /** Pods of different priorities that compete for the CPUs of their hosts. */
  priorities: {
    ...USERS,
    ...NO_FAULTS,
    'set image': 5,
    'rank daemonset': 8,
    'create ranked pod': 12,
    'create rivals': 6,
    'delete ranked pod': 5,
    'kill coordinator': 4,
    'kill agent': 3,
    'cut cable': 3,
    'cut power': 1,
    'reset connections': 1,
    'stop engine': 1,
    wait: 2,
  },
  /** The same during rollouts by waves and handovers. */
  displaced: {
    ...LEISURELY,
    'set policy': 2,
    'set host policy': 2,
    'approve wave': 2,
    'rank daemonset': 6,
    'create ranked pod': 12,
    'delete ranked pod': 6,
    'kill coordinator': 2,
    'kill agent': 1,
    'cut cable': 1,
    wait: 4,
  },
  /** Several coordinators over one etcd, and rollouts by waves and handovers during which the leader changes. */
  failovers: {
    ...USERS,
    ...FAULTS,
    ...TURNS,
    'coordinator fault': 22,
    'set policy': 2,
    'set host policy': 3,
    'set image': 14,
    'set strategy': 1,
    'label node': 2,
    'taint node': 1,
    'delete node': 0.3,
    'kill agent': 2,
    'kill coordinator': 8,
    'stop coordinator': 2,
    'cut power': 1,
    'cut cable': 2,
    'reset connections': 1,
    'stop engine': 1,
    'end container': 1,
    'jump clock': 0.5,
    'fill disk': 0,
    wait: 4,
  },
  /** Values of hosts that change, contradict each other and are missing, with and without waves. */
  values: {
    ...USERS,
    ...FAULTS,
    ...WAVES,
    ...VALUES,
    'set policy': 1.5,
    'set image': 4,
    'set strategy': 1,
    'delete node': 0.5,
    wait: 3,
  },
  /** DaemonJobs on hosts that are killed, cut off, relabelled, added and removed. */
  jobs: {
    ...USERS,
    ...FAULTS,
    ...JOBS,
    'create daemonset': 0.3,
    'set image': 0.3,
    'set strategy': 0,
    'set selector': 0,
    'delete daemonset': 0.3,
    'create pod': 0.3,
    'replace pod': 0.3,
    'delete pod': 4,
    'kill agent': 9,
    'kill coordinator': 9,
    'cut power': 6,
    'cut cable': 6,
    'end container': 5,
    'jump clock': 1.5,
    wait: 3,
  },
  /** All of it at once. */
  everything: {
    ...USERS,
    ...FAULTS,
    ...TURNS,
    ...TROUBLE,
    'starve host': 2,
    'set policy': 2,
    'set image': 12,
    'delete node': 0.5,
    'cut zone': 1.5,
    'back up': 2,
    'restore backup': 0.7,
    'rank daemonset': 2,
    'create ranked pod': 3,
    'delete ranked pod': 1,
  },
} satisfies Record<string, Mix>;

export type MixName = keyof typeof MIXES;
