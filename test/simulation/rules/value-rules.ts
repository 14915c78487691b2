/** Rules on values of hosts: which values a Pod may have, and which Pods a changed value may replace. */
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { targetNodeOf } from '../../../shared/kube/pods/pod-types.js';
import { type Availability, NEWS_MS, type StoppedByRollout } from './daemonset-availability.js';
import { DurationTracker } from './duration-tracker.js';
import type { Invariant, Verdict } from './invariants.js';
import type { ObservedWorld } from './observed-world.js';
import { expectedValue, REFUSED, valuePathsOf, valuesOfPod } from './reference-values.js';
import { versionOf } from './stored-truth.js';
import type { WaveHistory } from './wave-rules.js';

/** What the values of each host were, and since when. */
class ValueHistory {
  /** Keys are node, path and value. */
  readonly #right = new DurationTracker<string>();
  readonly #current = new Map<string, string>();
  readonly #ever = new Set<string>();
  /** Keys are DaemonSet uid and version of the template. */
  readonly #versions = new DurationTracker<string>();
  readonly #currentVersions = new Map<string, string>();
  /** Of all templates so far: a wave that is not open gets Pods of an older revision. */
  readonly #paths = new Set<string>();

  /** Must receive every change before the rules ask. */
  committed({ stored, nowMs }: ObservedWorld): void {
    for (const { metadata, spec } of stored.daemonSets.values()) {
      for (const path of valuePathsOf(spec.template.spec)) this.#paths.add(path);
      this.#note(metadata.uid ?? '', versionOf(spec.template) ?? '', this.#versions, nowMs);
    }
    for (const path of this.#paths)
      for (const [name, node] of stored.nodes)
        this.#note(
          `${name} ${path}`,
          expectedValue(path, node, stored.hostValues.values()),
          this.#right,
          nowMs,
        );
  }

  #note(place: string, value: string, tracker: DurationTracker<string>, nowMs: number): void {
    const all = tracker === this.#versions ? this.#currentVersions : this.#current;
    const before = all.get(place);
    if (before === value) return;
    if (before !== undefined) tracker.note(`${place} ${before}`, false, nowMs);
    tracker.note(`${place} ${value}`, true, nowMs);
    all.set(place, value);
    this.#ever.add(`${place} ${value}`);
  }

  /** It was the value of the host, now or some time before. */
  wasEver(node: string, path: string, value: string): boolean {
    return this.#ever.has(`${node} ${path} ${value}`);
  }

  wasRecently(node: string, path: string, value: string, nowMs: number): boolean {
    return this.#right.isWithin(`${node} ${path} ${value}`, NEWS_MS, nowMs);
  }

  isLong(node: string, path: string, value: string, nowMs: number): boolean {
    return this.#right.isFor(`${node} ${path} ${value}`, NEWS_MS, nowMs);
  }

  isVersionLong(uid: string, version: string, nowMs: number): boolean {
    return this.#versions.isFor(`${uid} ${version}`, NEWS_MS, nowMs);
  }
}

export function valueRules(availability: Availability, waves: WaveHistory): Invariant[] {
  const history = new ValueHistory();
  return [
    { rule: '', committed: (_, scene) => void history.committed(scene) },
    createdWithOwnValues(history),
    runsWithOwnValues(history),
    onlyUsersAreReplaced(availability, waves, history),
    refusedKeepsPod(availability, waves, history),
  ];
}

function createdWithOwnValues(history: ValueHistory): Invariant {
  return {
    rule: 'a Pod is made with the values that its host has then, and with all that its template uses',
    committed: ({ kind, previous, current }, { stored, nowMs }) => {
      if (kind !== 'Pod' || previous || !current || !stored.ownerOf(current)) return undefined;
      const paths = valuePathsOf(current.spec);
      if (paths.length === 0) return undefined;
      const { uid = '', name } = current.metadata;
      const node = targetNodeOf(current) ?? '';
      const values = valuesOfPod(current);
      // The host made it from values that it got with its handover.
      const isOwn = stored.acknowledgedPods.has(uid);
      const wrong = paths.find((path) => {
        const value = String(values[path]);
        return !(isOwn ? history.wasEver(node, path, value) : history.wasRecently(node, path, value, nowMs));
      });
      return wrong === undefined || `${name} is made on ${node} with ${wrong} = ${String(values[wrong])}`;
    },
  };
}

function runsWithOwnValues(history: ValueHistory): Invariant {
  return {
    rule: "no container runs with another host's values, or with others than its Pod was made with",
    podStarted: (podUid, node, { stored, running }) => {
      const pod = stored.pods.get(podUid);
      const paths = pod && valuePathsOf(pod.spec);
      if (!pod || !paths || paths.length === 0 || !stored.ownerOf(pod)) return undefined;
      const { name } = pod.metadata;
      const env = running(node).find((container) => container.podUid === podUid)?.env ?? [];
      for (const path of paths) {
        const value = String(valuesOfPod(pod)[path]);
        if (!history.wasEver(node, path, value)) return `${name} runs on ${node} with ${path} = ${value}`;
        if (!env.some((each) => each.endsWith(`=${value}`)))
          return `${name} runs on ${node} without ${path} = ${value}: ${env.join(', ')}`;
      }
      return true;
    },
  };
}

/** A rollout may also return to an earlier template, or leave a version that was current a while ago. */
function onlyUsersAreReplaced(
  availability: Availability,
  waves: WaveHistory,
  history: ValueHistory,
): Invariant {
  return {
    rule: 'a rollout replaces no Pod whose template and values are those of now',
    committed: (change, scene) => {
      const stopped = availability.stoppedByRollout(change, scene);
      if (!stopped || waves.mayGoBack(stopped.daemonSet, stopped.pod, scene)) return undefined;
      const { pod, daemonSet, node } = stopped;
      const version = versionOf(daemonSet.spec.template) ?? '';
      const isCurrent =
        versionOf(pod) === version &&
        history.isVersionLong(daemonSet.metadata.uid ?? '', version, scene.nowMs) &&
        hasCurrentValues(pod, node, history, scene.nowMs);
      return (
        !isCurrent || `${pod.metadata.name} on ${node} is told to stop, and nothing that it uses has changed`
      );
    },
  };
}

function hasCurrentValues(pod: Pod, node: string, history: ValueHistory, nowMs: number): boolean {
  const values = valuesOfPod(pod);
  return valuePathsOf(pod.spec).every((path) => history.isLong(node, path, String(values[path]), nowMs));
}

function refusedKeepsPod(availability: Availability, waves: WaveHistory, history: ValueHistory): Invariant {
  const verdict = ({ pod, daemonSet, node }: StoppedByRollout, nowMs: number): Verdict => {
    const paths = valuePathsOf(daemonSet.spec.template.spec);
    if (paths.length === 0) return undefined;
    const version = versionOf(daemonSet.spec.template) ?? '';
    if (!history.isVersionLong(daemonSet.metadata.uid ?? '', version, nowMs)) return undefined;
    const refused = paths.find((path) => history.isLong(node, path, REFUSED, nowMs));
    return (
      refused === undefined || `${pod.metadata.name} is told to stop on ${node}, which has no ${refused}`
    );
  };
  return {
    rule: 'a host whose value is missing or contradictory keeps its Pod',
    committed: (change, scene) => {
      const stopped = availability.stoppedByRollout(change, scene);
      if (!stopped || waves.mayGoBack(stopped.daemonSet, stopped.pod, scene)) return undefined;
      return verdict(stopped, scene.nowMs);
    },
  };
}
