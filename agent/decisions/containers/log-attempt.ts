/** The attempt of a log request (pkg/kubelet/kubelet.go validateContainerLogStatus). */
import type { ObservedContainer } from '../../runtime/runtime-driver.js';
import { attemptsOf } from './container-attempts.js';

type LogAttempt = { kind: 'attempt'; id: string } | { kind: 'none'; message: string };

/** Returns the newest started attempt; with `previous`, the newest one that ended before it. */
export function chooseAttempt(
  containers: readonly ObservedContainer[],
  container: string,
  previous: boolean,
): LogAttempt {
  const attempts = attemptsOf({ containers }, container);
  const [newest] = attempts;
  const pod = newest?.identity.podName ?? containers[0]?.identity.podName;
  const where = `container "${container}" in pod ${pod === undefined ? '' : `"${pod}" `}`;
  if (previous) {
    const ended = (newest?.state === 'exited' ? attempts : attempts.slice(1)).find(isEnded);
    if (ended) return { kind: 'attempt', id: ended.id };
    return { kind: 'none', message: `previous terminated ${where}not found` };
  }
  const started = attempts.find((attempt) => attempt.state !== 'created');
  if (started) return { kind: 'attempt', id: started.id };
  return { kind: 'none', message: `${where}is waiting to start: ContainerCreating` };
}

function isEnded(container: ObservedContainer): boolean {
  return container.state === 'exited';
}
