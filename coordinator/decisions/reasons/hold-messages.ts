/** Messages for the codes that keep an older Pod on a host: what the code means, and what to do. */
import type { UpdateBlockCode } from '../../../shared/kube/rollouts/rollout-reason-codes.js';

export interface ReasonSubject {
  namespace: string;
  daemonSet: string;
  node: string;
}

/** The code-dependent parts of a sentence. `phrase` precedes the node's name. */
export interface ReasonMessage {
  phrase: string;
  /** Advice to the operator. `pod`: the Pod of the reason, or "". */
  advice(subject: ReasonSubject, pod: string): string;
}

const status = ({ namespace, daemonSet }: ReasonSubject) =>
  `see the progress of the rollout: everynode rollout status -n ${namespace} ds/${daemonSet}`;
const steer =
  (verb: string, rest = '') =>
  ({ namespace, daemonSet }: ReasonSubject) =>
    `everynode rollout ${verb} -n ${namespace} ds/${daemonSet}${rest}`;

export const HOLD_MESSAGES: Readonly<Record<UpdateBlockCode, ReasonMessage>> = {
  Reverted: {
    phrase: 'was rolled back to its earlier revision on',
    advice: ({ namespace, daemonSet }) =>
      `fix the template, or roll back: kubectl rollout undo -n ${namespace} ds/${daemonSet}`,
  },
  Budget: { phrase: 'keeps its old Pod until other hosts are updated, on', advice: status },
  WaitingForApproval: {
    phrase: 'keeps its old Pod for now, on',
    advice: steer('approve', ' WAVE'),
  },
  WaitingForWave: { phrase: 'keeps its old Pod for now, on', advice: status },
  OutsideWindow: {
    phrase: 'keeps its old Pod until its maintenance window opens, on',
    advice: (subject) =>
      `if it cannot wait: ${steer('override-windows', ` ${subject.node} --reason WHY`)(subject)}`,
  },
  AwaitingResync: {
    phrase: 'keeps its old Pod for now, on',
    advice: () => 'it continues when the host reports, or is deferred if that takes too long',
  },
  UpdateLocked: {
    phrase: 'cannot update because of an update lock on',
    advice: (subject) =>
      `if it cannot wait: ${steer('override-locks', ` ${subject.node} --reason WHY`)(subject)}`,
  },
  ImageNotPulled: {
    phrase: 'waits for its next image, on',
    advice: ({ node }) => `see kubectl describe node ${node}`,
  },
  NoTrustedTime: {
    phrase: 'waits for a trusted time on',
    advice: () => 'it continues when the agent has connected since the boot',
  },
  InsufficientResources: {
    phrase: 'cannot update: not enough free resources for the new Pod, on',
    advice: ({ node }) =>
      `free resources (kubectl describe node ${node}), or lower the template's requests or host ports`,
  },
  RolloutPaused: {
    phrase: 'keeps its old Pod on',
    advice: (subject) =>
      `to continue: ${steer('resume')(subject)}, or set spec.paused of the policy to false: kubectl get rolloutpolicies -n ${subject.namespace}`,
  },
  Frozen: {
    phrase: 'is frozen on',
    advice: (subject) => `to continue: ${steer('resume')(subject)}, or see the freezes in its RolloutPolicy`,
  },
  RolloutFailed: {
    phrase: 'keeps its old Pod on',
    advice: ({ namespace, daemonSet }) =>
      `fix the template, or roll back: kubectl rollout undo -n ${namespace} ds/${daemonSet}`,
  },
  Skipped: {
    phrase: 'is skipped in this rollout on',
    advice: (subject) => `to include it: ${steer('unskip', ` ${subject.node}`)(subject)}`,
  },
  DeferredOffline: {
    phrase: 'is updated when the host returns, on',
    advice: () => "check the host's power, network and everynode-agent",
  },
};
