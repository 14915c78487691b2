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
  `see how far the rollout is: everynode rollout status -n ${namespace} ds/${daemonSet}`;
const steer =
  (verb: string, rest = '') =>
  ({ namespace, daemonSet }: ReasonSubject) =>
    `everynode rollout ${verb} -n ${namespace} ds/${daemonSet}${rest}`;

export const HOLD_MESSAGES: Readonly<Record<UpdateBlockCode, ReasonMessage>> = {
  Reverted: {
    phrase: 'went back to its earlier revision on',
    advice: ({ namespace, daemonSet }) =>
      `mend the template, or go back: kubectl rollout undo -n ${namespace} ds/${daemonSet}`,
  },
  Budget: { phrase: 'waits for others with its old Pod on', advice: status },
  WaitingForApproval: {
    phrase: 'waits with its old Pod on',
    advice: steer('approve', ' WAVE'),
  },
  WaitingForWave: { phrase: 'waits with its old Pod on', advice: status },
  OutsideWindow: {
    phrase: 'waits for its window with its old Pod on',
    advice: (subject) =>
      `if it cannot wait: ${steer('override-windows', ` ${subject.node} --reason WHY`)(subject)}`,
  },
  AwaitingResync: {
    phrase: 'waits with its old Pod on',
    advice: () => 'it goes on once its host is heard, or is deferred when that takes too long',
  },
  UpdateLocked: {
    phrase: 'is held back by its host on',
    advice: (subject) =>
      `if it cannot wait: ${steer('override-locks', ` ${subject.node} --reason WHY`)(subject)}`,
  },
  ImageNotPulled: {
    phrase: 'waits for its next image on',
    advice: ({ node }) => `see kubectl describe node ${node}`,
  },
  NoTrustedTime: {
    phrase: 'waits for the time on',
    advice: () => 'it goes on once its agent has been connected since the boot',
  },
  InsufficientResources: {
    phrase: 'keeps its old Pod, for want of room for the next, on',
    advice: ({ node }) =>
      `free what is short (kubectl describe node ${node}), or lower the template's requests or host ports`,
  },
  RolloutPaused: {
    phrase: 'keeps its old Pod on',
    advice: (subject) =>
      `to go on: ${steer('resume')(subject)}, or set spec.paused of the policy to false: kubectl get rolloutpolicies -n ${subject.namespace}`,
  },
  Frozen: {
    phrase: 'keeps what it has on',
    advice: (subject) => `to go on: ${steer('resume')(subject)}, or see the freezes of its RolloutPolicy`,
  },
  RolloutFailed: {
    phrase: 'keeps its old Pod on',
    advice: ({ namespace, daemonSet }) =>
      `mend the template, or go back: kubectl rollout undo -n ${namespace} ds/${daemonSet}`,
  },
  Skipped: {
    phrase: 'is left out of this rollout on',
    advice: (subject) => `to take it in: ${steer('unskip', ` ${subject.node}`)(subject)}`,
  },
  DeferredOffline: {
    phrase: 'is updated once it is back on',
    advice: () => "check the host's power, network and everynode-agent",
  },
};
