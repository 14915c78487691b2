/** Rules on DaemonJobs: once on each host, no host forgotten, counts that add up. */
import {
  type DaemonJob,
  type DaemonJobResult,
  runOf,
} from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import { isPodTerminal } from '../../../shared/kube/pods/pod-types.js';
import type { Invariant, Verdict } from './invariants.js';
import { isFinished, JobHistory, type JobPod, jobUidOf, placeOf } from './job-history.js';
import type { ObservedWorld } from './observed-world.js';
import { isLeaving } from './stored-truth.js';

export function jobRules(): Invariant[] {
  const history = new JobHistory();
  return [
    {
      rule: '',
      committed: (change, scene) => void history.committed(change, scene),
      podStarted: (podUid) => void history.podStarted(podUid),
    },
    neverAfterSuccess(history),
    startsOnce(history),
    onlyWhileOpen(history),
    withinParallelism(history),
    endsAreCounted(history),
    successIsFinal(history),
    countsAddUp(),
    nobodyIsForgotten(history),
  ];
}

function neverAfterSuccess(history: JobHistory): Invariant {
  return {
    rule: 'a host never starts a DaemonJob again after it succeeded there',
    podStarted: (podUid, node, { containers }) => {
      const pod = history.pods.get(podUid);
      if (!pod) return undefined;
      const place = placeOf(pod);
      if (history.succeeded.has(place)) return `${pod.name} starts on ${node} after a stored success`;
      if (history.unseen.has(place) || history.forgotten.has(place)) return true;
      const done = containers(node).find((each) => {
        const other = history.pods.get(each.podUid);
        return each.exitCode === 0 && each.podUid !== podUid && other && placeOf(other) === place;
      });
      return !done || `${pod.name} starts on ${node} beside ${done.podName}, which exited with 0`;
    },
  };
}

/**
 * A user who deletes the result asks for another run. A host whose Node was deleted removes its containers, and starts
 * the Pod again if it registers before the Pod is deleted.
 */
function startsOnce(history: JobHistory): Invariant {
  return {
    rule: 'the Pod of a DaemonJob starts once, and with AtMostOnce no other one of its run does on its host',
    podStarted: (podUid, node) => {
      const pod = history.pods.get(podUid);
      if (!pod) return undefined;
      if (history.unseen.has(placeOf(pod))) return undefined;
      if ((history.starts.get(podUid) ?? 0) > 1) return `${pod.name} starts on ${node} for the second time`;
      if (!pod.isOnlyOnce || history.forgotten.has(placeOf(pod))) return true;
      const isBefore = ({ uid, run }: JobPod) => uid !== podUid && run === pod.run && history.starts.has(uid);
      const other = [...history.pods.values()].find(
        (each) => placeOf(each) === placeOf(pod) && isBefore(each),
      );
      return !other || `${pod.name} starts on ${node} after ${other.name} of the same run`;
    },
  };
}

function onlyWhileOpen(history: JobHistory): Invariant {
  return {
    rule: 'a suspended or ended DaemonJob makes no Pod',
    committed: ({ kind, previous, current }, { stored, nowMs }) => {
      const jobUid = kind === 'Pod' && !previous && current ? jobUidOf(current) : undefined;
      const job = stored.daemonJobs.get(jobUid ?? '');
      if (jobUid === undefined || !job || !current) return undefined;
      const { name } = current.metadata;
      if (history.isLongClosed(jobUid, nowMs))
        return `${name} is made while the job is suspended or has ended`;
      return !isFinished(job) || `${name} is made, and the job has ended`;
    },
  };
}

/** Hosts that are offline, or were a while ago, use no slot. */
function withinParallelism(history: JobHistory): Invariant {
  return {
    rule: 'a DaemonJob runs on no more hosts at once than its parallelism',
    committed: ({ kind, previous, current }, { stored, nowMs }) => {
      const jobUid = kind === 'Pod' && !previous && current ? jobUidOf(current) : undefined;
      if (jobUid === undefined || !current) return undefined;
      const all = [...stored.pods.values()].filter((pod) => jobUidOf(pod) === jobUid);
      const placed = all.map(({ metadata }) => history.pods.get(metadata.uid ?? '')?.node ?? '');
      const listed = resultsOf(stored, jobUid).map(({ nodeName }) => nodeName);
      const hosts = new Set([...stored.nodes.keys(), ...listed, ...placed]);
      const active = all.filter((pod) => {
        const node = history.pods.get(pod.metadata.uid ?? '')?.node ?? '';
        const isNew = pod.metadata.uid === current.metadata.uid;
        return isNew || (!isPodTerminal(pod) && !isLeaving(pod) && history.isLongReady(node, nowMs));
      });
      const slots = history.slotsOf(jobUid, hosts.size, nowMs);
      return active.length <= slots || `${active.length} hosts run ${current.metadata.name}, ${slots} may`;
    },
  };
}

function endsAreCounted(history: JobHistory): Invariant {
  return {
    rule: 'the end of a Pod of a DaemonJob is in the result of its host when the Pod leaves the store',
    committed: ({ kind, previous, current }, { stored }) => {
      if (kind !== 'Pod' || current) return undefined;
      const pod = history.pods.get(previous?.metadata.uid ?? '');
      const job = stored.daemonJobs.get(pod?.jobUid ?? '');
      // A Pod without a node was on no host.
      if (!pod || !job || !previous?.spec.nodeName || isLeaving(job) || history.forgotten.has(placeOf(pod)))
        return undefined;
      const result = resultsOf(stored, pod.jobUid).find(({ nodeName }) => nodeName === pod.node);
      return (result?.attempts ?? 0) > pod.attempt || `${pod.name} is gone, and its end is counted nowhere`;
    },
  };
}

function successIsFinal(history: JobHistory): Invariant {
  return {
    rule: 'the result of a host never loses a success or an attempt',
    committed: (change, { stored, userRequests }) => {
      const { kind, previous, current } = change;
      if (kind !== 'DaemonJobResult' || !previous) return undefined;
      const { uid = '', name } = previous.metadata;
      const jobUid = jobUidOf(previous) ?? '';
      const job = stored.daemonJobs.get(jobUid);
      if (!current)
        return (
          !job || isLeaving(job) || userRequests.deleted.has(uid) || `${name} is gone, and its job is there`
        );
      if (previous.phase === 'Succeeded' && current.phase !== 'Succeeded')
        return `${name} was Succeeded and is ${current.phase}`;
      const place = placeOf({ jobUid, node: current.nodeName });
      return current.attempts >= previous.attempts || history.forgotten.has(place)
        ? true
        : `${name} counted ${previous.attempts} attempts and counts ${current.attempts}`;
    },
  };
}

function countsAddUp(): Invariant {
  return {
    rule: 'the counts of a DaemonJob add up to its hosts, and an ended one waits for none',
    committed: ({ kind, current }) => {
      const { status } = kind === 'DaemonJob' && current ? (current as DaemonJob) : {};
      if (kind !== 'DaemonJob' || !current || status?.hosts === undefined) return undefined;
      const { hosts, succeeded = 0, failed = 0, missed = 0, active = 0, offline = 0, waiting = 0 } = status;
      const sum = succeeded + failed + missed + active + offline + waiting;
      const { name } = current.metadata;
      if (sum !== hosts) return `${name} has ${hosts} hosts, and its counts are ${JSON.stringify(status)}`;
      return true;
    },
  };
}

/** Hosts that became eligible a moment before the end may have missed nothing. */
function nobodyIsForgotten(history: JobHistory): Invariant {
  const verdict = (job: DaemonJob, { stored, nowMs }: ObservedWorld): Verdict => {
    const { uid = '', name } = job.metadata;
    const { active = 0, offline = 0, waiting = 0 } = job.status ?? {};
    if (active + offline + waiting > 0)
      return `${name} ends with ${active} active, ${offline} offline and ${waiting} waiting hosts`;
    const results = new Map(resultsOf(stored, uid).map((result) => [result.nodeName, result]));
    const forgotten = [...stored.nodes.keys()].find((node) => {
      if (!history.isLongEligible(uid, node, nowMs) || history.forgotten.has(placeOf({ jobUid: uid, node })))
        return false;
      const { phase, reason } = results.get(node) ?? {};
      return phase === undefined || phase === 'Retrying' || (phase !== 'Succeeded' && !reason);
    });
    return forgotten === undefined || `${name} ends, and ${forgotten} has no result with a reason`;
  };
  return {
    rule: 'a DaemonJob ends when each of its hosts has succeeded, failed or missed it, with a reason',
    committed: (change, scene) => {
      if (change.kind !== 'DaemonJob' || !change.current) return undefined;
      const { previous, current } = change;
      const isNews = isFinished(current) && !(previous && isFinished(previous));
      return isNews ? verdict(current, scene) : undefined;
    },
  };
}

function resultsOf({ jobResults }: ObservedWorld['stored'], jobUid: string): DaemonJobResult[] {
  return [...jobResults.values()].filter((result) => jobUidOf(result) === jobUid);
}

/** Returns what is wrong with DaemonJobs when nothing changes any more. */
export function jobUnrest({ stored }: ObservedWorld): string[] {
  return [
    ...[...stored.daemonJobs.values()].flatMap((job) => endUnrest(job, stored)),
    ...[...stored.pods.values()].flatMap(({ metadata }) =>
      metadata.finalizers?.includes('fleet.everynode.dev/daemonjob-tracking')
        ? [`Pod ${metadata.name} is still to be counted`]
        : [],
    ),
    ...[...stored.jobResults.values()].flatMap((result) => {
      const jobUid = jobUidOf(result);
      const isOrphan = jobUid !== undefined && !stored.daemonJobs.has(jobUid);
      return isOrphan ? [`result ${result.metadata.name} is of no DaemonJob`] : [];
    }),
  ];
}

function endUnrest(job: DaemonJob, stored: ObservedWorld['stored']): string[] {
  const { uid = '', name, generation } = job.metadata;
  if (isLeaving(job)) return [`DaemonJob ${name} is still to be deleted`];
  if (!isFinished(job)) return [`DaemonJob ${name} does not end: ${JSON.stringify(job.status)}`];
  const { status = {} } = job;
  const results = resultsOf(stored, uid).filter(
    ({ phase, run }) => phase === 'Succeeded' || run === runOf(job),
  );
  const of = (phase: DaemonJobResult['phase']) => results.filter((each) => each.phase === phase).length;
  const figures = {
    ...{ observedGeneration: generation, hosts: results.length, succeeded: of('Succeeded') },
    ...{ failed: of('Failed'), missed: of('Missed'), active: 0, offline: 0, waiting: 0 },
  };
  return Object.entries(figures).flatMap(([figure, right]) => {
    const told = status[figure as keyof typeof figures] ?? 0;
    return told === right ? [] : [`DaemonJob ${name} says ${figure} ${told}, it is ${right}`];
  });
}
