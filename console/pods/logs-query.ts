/** The logs of the page of logs, as its URL names them. Pure. */
import type { Pod } from '../../shared/kube/pods/pod-types.js';

/** A browser opens six connections to one server. Each log uses one, and the other pages need the rest. */
export const MOST_LOGS = 3;
const LABEL = '[a-z0-9](?:[a-z0-9-]*[a-z0-9])?';
const POD = '[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?';
const LOG = new RegExp(`^(${LABEL})/(${POD})(?:/(${LABEL}))?$`);

interface NamedLog {
  namespace: string;
  pod: string;
  /** Absent: the only container of the Pod. The API refuses the log of a Pod with several. */
  container?: string;
}

/** Returns the logs as `namespace/pod` or `namespace/pod/container`, without invalid names and duplicates. */
export function logsInQuery(text: string): string[] {
  const valid = text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => LOG.test(each));
  return [...new Set(valid)].slice(0, MOST_LOGS);
}

export function logsQuery(logs: readonly string[]): string {
  return logs.join(',');
}

/** Returns the parts of a log of `logsInQuery`. */
export function readLog(text: string): NamedLog {
  const [namespace = '', pod = '', container] = text.split('/');
  return { namespace, pod, ...(container !== undefined && { container }) };
}

/** Returns how the URL names the log of this Pod. Of several containers it is the first one. */
export function logOfPod({ metadata, spec: { containers } }: Pod): string {
  const [first] = containers;
  const pod = `${metadata.namespace}/${metadata.name}`;
  return first && containers.length > 1 ? `${pod}/${first.name}` : pod;
}
