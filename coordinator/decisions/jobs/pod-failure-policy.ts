/** What a failed Pod means for its Job (`pkg/controller/job/pod_failure_policy.go`). */
import type { ExitCodeRequirement, PodFailurePolicyRule } from '../../../shared/kube/jobs/job-types.js';
import type { Condition } from '../../../shared/kube/objects/conditions.js';
import { refText } from '../../../shared/kube/objects/meta.js';
import type { ContainerStatus, Pod } from '../../../shared/kube/pods/pod-types.js';

/** `failJob` has the message of the Job's condition. `failIndex` counts the Pod as well. */
type FailureVerdict = { action: 'count' | 'ignore' | 'failIndex' } | { action: 'failJob'; message: string };

/** Returns the verdict of the first rule that matches. Without a match the Pod is counted. */
export function failureVerdict(rules: readonly PodFailurePolicyRule[], pod: Pod): FailureVerdict {
  for (const [index, rule] of rules.entries()) {
    const why = matchText(rule, pod);
    if (why === undefined) continue;
    if (rule.action === 'Ignore') return { action: 'ignore' };
    if (rule.action === 'FailIndex') return { action: 'failIndex' };
    if (rule.action !== 'FailJob') return { action: 'count' };
    return { action: 'failJob', message: `${why} matching FailJob rule at index ${index}` };
  }
  return { action: 'count' };
}

/** Returns the first half of the message, or undefined if the rule does not match. */
function matchText({ onExitCodes, onPodConditions }: PodFailurePolicyRule, pod: Pod): string | undefined {
  const name = refText(pod.metadata);
  if (onExitCodes) {
    const found = failedContainer(pod, onExitCodes);
    if (!found) return undefined;
    return `Container ${found.name} for pod ${name} failed with exit code ${found.state?.terminated?.exitCode}`;
  }
  const condition = (pod.status?.conditions ?? []).find((one: Condition) =>
    (onPodConditions ?? []).some(
      ({ type, status }) => one.type === type && one.status === (status || 'True'),
    ),
  );
  return condition && `Pod ${name} has condition ${condition.type}`;
}

/** Exit code 0 never matches, also not for `NotIn`: the container did not fail. */
function failedContainer(pod: Pod, requirement: ExitCodeRequirement): ContainerStatus | undefined {
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {};
  return [...containerStatuses, ...initContainerStatuses].find(({ name, state }) => {
    const code = state?.terminated?.exitCode;
    if (code === undefined || code === 0) return false;
    if (requirement.containerName !== undefined && requirement.containerName !== name) return false;
    return requirement.values.includes(code) === (requirement.operator === 'In');
  });
}
