/** Names under which changes of the store are counted. */
import {
  type DaemonJob,
  type DaemonJobResult,
  daemonJobFinishedAs,
} from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import { handoverAnnotationOf } from '../../../shared/kube/handovers/host-handover.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { Rollout } from '../../../shared/kube/rollouts/rollout-types.js';
import { isLeaving, isReady, type StoredChange, versionOf } from '../rules/stored-truth.js';

/** All that has happened by this one change; mostly one thing, or nothing that counts. */
export function eventsOf(change: StoredChange): string[] {
  const { kind, previous, current } = change;
  if (!previous)
    return [
      change.kind === 'DaemonJobResult' ? `DaemonJobResult made as ${change.current?.phase}` : `${kind} made`,
    ];
  if (!current) return [`${kind} gone`];
  const told = !isLeaving(previous) && isLeaving(current) ? [`${kind} told to go`] : [];
  switch (change.kind) {
    case 'Pod':
      return [...told, ...podEvents(previous as Pod, current as Pod)];
    case 'Node':
      return [...told, ...nodeEvents(previous as Node, current as Node)];
    case 'Rollout':
      return [...told, ...rolloutEvents(previous as Rollout, current as Rollout)];
    case 'DaemonSet': {
      const [before, now] = [change.previous, change.current].map((each) => each?.spec.template);
      return versionOf(before ?? {}) === versionOf(now ?? {})
        ? told
        : [...told, 'DaemonSet of another template'];
    }
    case 'DaemonJob':
      return [...told, ...jobEvents(previous as DaemonJob, current as DaemonJob)];
    case 'DaemonJobResult':
      return [...told, ...resultEvents(previous as DaemonJobResult, current as DaemonJobResult)];
    case 'HostValues':
    case 'RolloutPolicy':
    case 'ControllerRevision':
      return told;
  }
}

function podEvents(previous: Pod, current: Pod): string[] {
  const isNew = (holds: (pod: Pod) => boolean) => !holds(previous) && holds(current);
  return [
    isNew(isReady) && 'Pod becomes ready',
    isNew((pod) => !isReady(pod)) && 'Pod is not ready any more',
    isNew(({ status }) => status?.phase === 'Failed') &&
      `Pod fails: ${current.status?.reason ?? 'by itself'}`,
    isNew((pod) => handoverAnnotationOf(pod) !== undefined) && 'turn given to a host',
  ].filter((event) => event !== false);
}

function jobEvents(previous: DaemonJob, current: DaemonJob): string[] {
  const [before, now] = [previous, current].map(daemonJobFinishedAs);
  return before !== now ? [`DaemonJob ${now ?? 'runs again'}`] : [];
}

function resultEvents(previous: DaemonJobResult, current: DaemonJobResult): string[] {
  return previous.phase === current.phase ? [] : [`DaemonJobResult ${previous.phase} to ${current.phase}`];
}

function nodeEvents(previous: Node, current: Node): string[] {
  const conditionsOf = ({ status }: Node) =>
    (status?.conditions ?? []).map(({ type, status: is }) => `Node ${type}=${is}`);
  const taintsOf = ({ spec }: Node) =>
    (spec?.taints ?? []).map(({ key, effect }) => `Node tainted ${key}:${effect}`);
  const isNews = (before: readonly string[]) => (each: string) => !before.includes(each);
  const boots = [previous, current].map(({ status }) => status?.nodeInfo?.bootID);
  return [
    ...conditionsOf(current).filter(isNews(conditionsOf(previous))),
    ...taintsOf(current).filter(isNews(taintsOf(previous))),
    ...(boots[0] !== boots[1] ? ['Node shown as rebooted'] : []),
  ];
}

function rolloutEvents({ status: before }: Rollout, { status: now }: Rollout): string[] {
  return [
    ...(now && before?.phase !== now.phase ? [`Rollout ${now.phase}`] : []),
    ...(now?.wave && before?.wave !== now.wave ? [`wave ${now.wave} opens`] : []),
  ];
}
