/**
 * Faults that break each rule on failovers: a coordinator that takes over wrongly, or an agent that forgets. `extended`
 * runs them; `sabotaged-rules`, in `npm test`, checks that no rule lacks one.
 */
import { DesiredCache } from '../../../agent/desired/desired-cache.js';
import type { CoordinatorCore } from '../../../coordinator/coordinator-core.js';
import { LeaderLog } from '../../../coordinator/store/replica/leader-log.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { Rollout } from '../../../shared/kube/rollouts/rollout-types.js';
import { after, daemonSet, setImage } from '../cases/case-builders.js';
import type { Policy, Step } from '../histories/history.js';
import type { Sabotage } from '../machines/simulated-world.js';
import { FLEET_RULE } from '../rules/failover-rules.js';
import { breakDuring } from './break-during.js';
import type { Proof } from './sabotage-proof.js';
import { seeing } from './sabotages.js';

export interface FailoverProof extends Proof {
  /** The beginning of the rule that the fault breaks. */
  rule: string;
  /** Matches the rest of the violation. */
  how: RegExp;
}

const POLICY: Policy = {
  ...{ soakSeconds: 60, approval: 'Automatic', maxFailed: null, deadlineSeconds: 30, action: 'Pause' },
};
const KILL_LEADER = { kind: 'coordinator fault', fault: 'power cut', who: 'leader', draw: 1 } as const;

/** Breaks every coordinator but the first one that leads. */
function afterTakeover(wrapCore: (core: CoordinatorCore) => CoordinatorCore): Sabotage {
  let leaders = 0;
  return {
    wrapCore: (core) => {
      leaders += 1;
      return leaders > 1 ? wrapCore(core) : core;
    },
  };
}

/** Makes a new leader misread how far rollouts are. */
const withWave = (wave: string): Sabotage =>
  afterTakeover(
    seeing<Rollout>(
      ({ informers }) => informers.rollouts,
      (rollout) => ({ ...rollout, ...(rollout.status && { status: { ...rollout.status, wave } }) }),
    ),
  );

/** A rollout by waves: the second one opens some 70 s after the new image. */
const rollout = (leaderKilledAfter: number): Step[] => [
  after(1, daemonSet('app:1')),
  after(1, { kind: 'set policy', policy: POLICY }),
  after(1, { kind: 'label node', node: 'host-1', zone: 'a' }),
  after(1, { kind: 'label node', node: 'host-2', zone: 'b' }),
  after(60, setImage('app:2')),
  after(leaderKilledAfter, KILL_LEADER),
];

/** An agent that writes the start of a handover to its disk and then forgets it. */
const forgetfulAgent = (check: () => Promise<void>) => {
  const { replaceDurably } = DesiredCache.prototype;
  const wrong: DesiredCache['replaceDurably'] = async function (this: DesiredCache, assigned, ...pods) {
    const isReplaced = await replaceDurably.call(this, assigned, ...pods);
    if (!pods.some(({ lifecycle }) => lifecycle.kind === 'handedOver')) return isReplaced;
    for (const { uid } of pods) this.forget(uid);
    await this.put(assigned);
    return false;
  };
  return breakDuring(DesiredCache.prototype, { replaceDurably: wrong }, check);
};

/** A leader that appends no first entry of its term. */
const silentLeader = (check: () => Promise<void>) =>
  breakDuring(LeaderLog.prototype, { start: async () => undefined }, check);

export const FAILOVER_PROOFS: readonly FailoverProof[] = [
  {
    what: 'a new leader that takes running Pods for failed ones',
    rule: 'a failover alone starts, stops and replaces no container',
    how: /: .* only the leader had changed/,
    steps: [after(1, daemonSet('app:1')), after(20, { kind: 'wait' })],
    sabotage: afterTakeover(
      seeing<Pod>(
        ({ informers }) => informers.pods,
        (pod) => ({ ...pod, status: { ...pod.status, phase: 'Failed' } }),
      ),
    ),
  },
  {
    what: 'a new leader that begins a rollout again',
    rule: 'a rollout opens each wave once',
    how: / goes back from wave second to first/,
    nodes: 2,
    steps: rollout(90),
    sabotage: withWave(''),
  },
  {
    what: 'a new leader that skips a wave',
    rule: 'a rollout opens each wave once',
    how: / while wave second is not done/,
    nodes: 2,
    steps: rollout(20),
    sabotage: withWave('rest'),
  },
  {
    what: 'an agent that forgets a handover that it has begun',
    rule: 'a host begins one successor of a Pod',
    how: / after it has begun/,
    steps: [
      after(1, daemonSet('app:1')),
      after(1, {
        kind: 'set host policy',
        policy: { ...POLICY, soakSeconds: 0 },
        turns: { windowSeconds: null, confirmSeconds: 60, lockSeconds: null, prePulls: false },
      }),
      after(60, setImage('app:2')),
      after(5, KILL_LEADER),
      after(20, setImage('app:3')),
      after(60, { kind: 'wait' }),
    ],
    breaking: forgetfulAgent,
  },
  {
    what: 'a new leader that loses count of revisions',
    rule: 'each template of a DaemonSet has one revision',
    how: / has number 6, the last one is 1/,
    steps: [after(1, daemonSet('app:1')), after(20, KILL_LEADER), after(20, setImage('app:2'))],
    sabotage: afterTakeover(
      seeing(
        ({ informers }) => informers.controllerRevisions,
        (one) => ({ ...one, revision: one.revision + 4 }),
      ),
    ),
  },
  {
    what: 'a new leader that does not prove that it has read the log to its end',
    rule: FLEET_RULE,
    how: /: term \d+ begins with an entry that is no start/,
    steps: [after(1, daemonSet('app:1'))],
    breaking: silentLeader,
  },
].map((proof): FailoverProof => ({ coordinators: 3, ...proof }));
