/** A reason as one sentence for an operator on call: what happened, why, and what to do. */

import { countText } from '../../../shared/kube/objects/meta.js';
import { HOLD_MESSAGES, type ReasonMessage, type ReasonSubject } from './hold-messages.js';
import type { FailureCause } from './pod-progress.js';
import { type CreateRefusal, type Reason, type ReasonCode, refusalText } from './reason-code.js';

const describePod = ({ namespace }: ReasonSubject, pod: string) =>
  `kubectl describe pod -n ${namespace} ${pod}`;
const logsOf = ({ namespace }: ReasonSubject, pod: string) =>
  `kubectl logs -n ${namespace} ${pod} --all-containers`;
const describeNode = ({ node }: ReasonSubject) => `kubectl describe node ${node}`;

/** A container that never ran has no log, and one whose run has just ended has no previous one. */
const FAILURE_ADVICE: Readonly<Record<FailureCause, ReasonMessage['advice']>> = {
  image: (subject, pod) =>
    `check the image's name and tag, the registry, and imagePullSecrets: ${describePod(subject, pod)}`,
  creation: (subject, pod) =>
    `check the ConfigMaps, Secrets, volumes and the command of the template: ${describePod(subject, pod)}`,
  lastRun: (subject, pod) => `see ${describePod(subject, pod)} and ${logsOf(subject, pod)} --previous`,
  endedRun: (subject, pod) => `see ${describePod(subject, pod)} and ${logsOf(subject, pod)}`,
};

/** With HOLD_MESSAGES, this table defines what each code means. */
const WORDINGS: Readonly<Record<ReasonCode, ReasonMessage>> = {
  ...HOLD_MESSAGES,
  Running: { phrase: 'runs on', advice: () => 'nothing to do' },
  Creating: {
    phrase: 'is about to get a Pod on',
    advice: ({ namespace, daemonSet }) =>
      `if it lasts, see what refuses the Pod: kubectl describe ds -n ${namespace} ${daemonSet}`,
  },
  FailedCreate: {
    phrase: 'cannot create its Pod on',
    advice: ({ namespace, daemonSet }) =>
      `the API refuses the Pod: it is retried within 17 minutes, or at once after a change of the template; Events: kubectl describe ds -n ${namespace} ${daemonSet}`,
  },
  Starting: {
    phrase: 'is starting on',
    advice: (subject, pod) => `if it lasts, see: ${describePod(subject, pod)}`,
  },
  NotReady: {
    phrase: 'runs but is not ready on',
    advice: (subject, pod) => `see its logs: ${logsOf(subject, pod)}`,
  },
  Failing: {
    phrase: 'fails on',
    advice: FAILURE_ADVICE.lastRun,
  },
  BackOff: {
    phrase: 'is in back-off on',
    advice: (subject, pod) =>
      `the Pod is replaced automatically after 1 s, then 2, 4 … up to 15 min; fix the cause: ${describePod(subject, pod)}`,
  },
  Unschedulable: {
    phrase: 'does not fit on',
    advice: () => "free resources on the node, or lower the template's requests or host ports",
  },
  Preempting: {
    phrase: 'waits until Pods of lower priority have stopped on',
    advice: (subject) =>
      `it starts when their host has confirmed that; if it lasts, check the agent: ${describeNode(subject)}`,
  },
  Preempted: {
    phrase: 'gave way to a Pod of higher priority on',
    advice: () =>
      "it starts again when there is room: free resources on the node, lower the template's requests, or set a higher priorityClassName",
  },
  Terminating: {
    phrase: 'waits for its old Pod to stop on',
    advice: (subject) =>
      `a new one is created when it has stopped; if it lasts, check the agent: ${describeNode(subject)}`,
  },
  Updating: {
    phrase: 'still has its old Pod on',
    advice: ({ namespace, daemonSet }) =>
      `the rolling update replaces it: kubectl rollout status -n ${namespace} ds/${daemonSet}`,
  },
  UpdateOnDelete: {
    phrase: 'runs an older template on',
    advice: ({ namespace }, pod) =>
      `the update strategy is OnDelete, so delete the Pod to update it: kubectl delete pod -n ${namespace} ${pod}`,
  },
  NodeOffline: {
    phrase: 'cannot be judged or changed on',
    advice: (_subject, pod) =>
      pod
        ? "containers keep running while it is offline; check the host's power, network and everynode-agent"
        : "it gets a Pod when it returns; check the host's power, network and everynode-agent",
  },
  KeptDespiteTaint: {
    phrase: 'keeps its present Pod, but would not start a new one, on',
    advice: (subject) => `tolerate the taint in the template, or see why it is set: ${describeNode(subject)}`,
  },
  UntoleratedTaint: {
    phrase: 'does not run on',
    advice: (subject) =>
      `if it should, tolerate the taint in the template, or see why it is set: ${describeNode(subject)}`,
  },
  NodeNameMismatch: {
    phrase: 'does not run on',
    advice: () => "if it should, remove nodeName from the template's spec",
  },
  NodeSelectorMismatch: {
    phrase: 'does not run on',
    advice: ({ node }) =>
      `if it should, label the node (kubectl label node ${node} KEY=VALUE) or change the template's nodeSelector`,
  },
  NodeAffinityMismatch: {
    phrase: 'does not run on',
    advice: ({ node }) =>
      `if it should, label the node (kubectl label node ${node} KEY=VALUE) or change the template's affinity`,
  },
  NodeNotFound: {
    phrase: 'has no Node object for',
    advice: (_subject, pod) =>
      pod
        ? 'the Pod is deleted within two minutes unless the Node returns'
        : 'check the name: kubectl get nodes',
  },
  DaemonSetDeleting: {
    phrase: 'is being deleted and changes nothing on',
    advice: ({ namespace, daemonSet }) =>
      `if it lasts, see what it waits for: kubectl get ds -n ${namespace} ${daemonSet} -o yaml`,
  },
};

/** Returns `default/web does not run on n3: untolerated taint gpu=yes:NoSchedule; if it should, …` */
export function reasonSentence({ code, pod, because, cause }: Reason, subject: ReasonSubject): string {
  const { phrase: does } = WORDINGS[code];
  const advice = cause ? FAILURE_ADVICE[cause] : WORDINGS[code].advice;
  const about = pod === undefined ? '' : ` (Pod ${pod})`;
  const what = `${subject.namespace}/${subject.daemonSet} ${does} ${subject.node}${about}`;
  return `${what}: ${because}; ${advice(subject, pod ?? '')}.`;
}

/**
 * Returns `default/web on 3 nodes: 2 Running, 1 UntoleratedTaint.` Counts of 0 are omitted. A refusal follows as
 * `FailedCreate: …`.
 */
export function fleetSentence(
  { namespace, daemonSet }: Pick<ReasonSubject, 'namespace' | 'daemonSet'>,
  counts: readonly { code: ReasonCode; count: number }[],
  refusal?: CreateRefusal,
): string {
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  const parts = counts.filter(({ count }) => count > 0).map(({ code, count }) => `${count} ${code}`);
  const tail = parts.length > 0 ? `: ${parts.join(', ')}` : '';
  const refused = refusal ? ` FailedCreate: ${refusalText(refusal)}.` : '';
  return `${namespace}/${daemonSet} on ${countText(total, 'node')}${tail}.${refused}`;
}
