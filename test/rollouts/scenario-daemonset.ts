/** A DaemonSet with a policy on a fleet: starts releases and observes their progress. */

import type { DaemonSet } from '../../shared/kube/daemonsets/daemonset-types.js';
import { isConditionTrue } from '../../shared/kube/objects/conditions.js';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import type { RolloutPolicy } from '../../shared/kube/rollouts/rollout-policy-types.js';
import type { Rollout, RolloutStatus } from '../../shared/kube/rollouts/rollout-types.js';
import { until } from '../harness/basics/wait-until.js';
import { hasImage, runsImage } from '../harness/simulated/images-on-hosts.js';
import type { ScenarioFleet } from './scenario-fleet.js';
import { MAX_UNAVAILABLE } from './scenarios/scenario-policies.js';

type PolicySpec = Omit<RolloutPolicy['spec'], 'selector'>;

const PRETENCE = 'simulate.everynode.dev/';
const MERGE = 'application/merge-patch+json';
const PHASE_MS = 600_000;

const at = (resource: string, name = '') =>
  `/apis/fleet.everynode.dev/v1/namespaces/default/${resource}${name && `/${name}`}`;

/** Simulated behaviour of a release's Pods: annotation names without their prefix, and their values. */
export type SimulatedBehaviour = Readonly<Record<string, string>>;

export class ScenarioDaemonSet {
  private constructor(
    readonly fleet: ScenarioFleet,
    readonly name: string,
  ) {}

  /** Deploys the first release on every host and creates the policy for the next ones. */
  static async start(stage: ScenarioFleet, name: string, policy: PolicySpec): Promise<ScenarioDaemonSet> {
    const rolled = new ScenarioDaemonSet(stage, name);
    const spec = { ...policy, selector: { matchLabels: { app: name } } };
    await stage.api.request('POST', at('rolloutpolicies'), { metadata: { name }, spec });
    const { template } = rolled.#spec(1, {});
    const annotations = Object.entries(template.metadata.annotations).filter(([, text]) => text !== null);
    const metadata = { ...template.metadata, annotations: Object.fromEntries(annotations) };
    await stage.api.request('POST', '/apis/apps/v1/namespaces/default/daemonsets', {
      metadata: { name, labels: { app: name } },
      spec: {
        selector: { matchLabels: { app: name } },
        template: { ...template, metadata },
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: MAX_UNAVAILABLE } },
      },
    });
    await rolled.reaches('Completed');
    const isEverywhere = async () => (await rolled.#daemonSet()).status?.numberReady === stage.reachable;
    await until(isEverywhere, { timeoutMs: PHASE_MS, what: `${name}:1 on every connected host` });
    return rolled;
  }

  async release(version: number, behaviour: SimulatedBehaviour = {}): Promise<void> {
    this.fleet.print(`${this.name}:${version}`);
    const path = `/apis/apps/v1/namespaces/default/daemonsets/${this.name}`;
    await this.fleet.api.request('PATCH', path, { spec: this.#spec(version, behaviour) }, MERGE);
  }

  async changePolicy(spec: Partial<PolicySpec>): Promise<void> {
    await this.fleet.api.request('PATCH', at('rolloutpolicies', this.name), { spec }, MERGE);
  }

  /** Runs an operator's command: `approve`, `pause` … */
  async steer(verb: string, value: string, reason = 'the scenario asks for it'): Promise<void> {
    const prefix = 'fleet.everynode.dev/';
    const annotations = { [`${prefix}${verb}`]: value, [`${prefix}reason`]: reason };
    await this.fleet.api.request('PATCH', at('rollouts', this.name), { metadata: { annotations } }, MERGE);
  }

  async status(): Promise<RolloutStatus | undefined> {
    const { code, body } = await this.fleet.api.send('GET', at('rollouts', this.name));
    return code === 200 ? (body as Rollout).status : undefined;
  }

  /** Waits until the rollout of the current template is in that phase, and in that wave if one is named. */
  async reaches(phase: RolloutStatus['phase'], wave?: string): Promise<RolloutStatus> {
    let last: RolloutStatus | undefined;
    const isThere = async () => {
      last = await this.status();
      return last?.phase === phase && (wave === undefined || last.wave === wave) && (await this.#isCurrent());
    };
    const what = `${this.name} to be ${phase}${wave ? ` in wave ${wave}` : ''}`;
    await until(isThere, { timeoutMs: PHASE_MS, pollMs: 20, what }).catch((error: Error) => {
      throw new Error(`${error.message}; it is ${last?.phase} in wave ${last?.wave}: ${last?.message}`);
    });
    if (!last) throw new Error('unreachable');
    this.fleet.print(`${this.name}: ${last.phase} (${last.wave}) ${last.message}`);
    return last;
  }

  /** Waits until a condition of the rollout's status is true. */
  async until(what: string, holds: (status: RolloutStatus) => boolean): Promise<void> {
    const isSo = async () => {
      const status = await this.status();
      return status !== undefined && holds(status) && (await this.#isCurrent());
    };
    await until(isSo, { timeoutMs: PHASE_MS, pollMs: 20, what });
  }

  /** Hosts that ever ran a version. */
  hostsThatRan(version: number): string[] {
    return this.fleet.hostsThatRan(`${this.name}:${version}`);
  }

  /** UID of the Pod on each node, without terminating Pods. */
  async podsByNode(): Promise<Map<string, string>> {
    const pods = (await this.#pods()).filter(({ metadata }) => !metadata.deletionTimestamp);
    return new Map(pods.map(({ metadata, spec }) => [spec.nodeName ?? '', metadata.uid ?? '']));
  }

  /** Watches from now on how many Pods are available. */
  async watchAvailable(): Promise<{ lowest(): number }> {
    const path = `/apis/apps/v1/namespaces/default/daemonsets?fieldSelector=metadata.name%3D${this.name}`;
    const { items, resourceVersion } = await this.fleet.api.items<DaemonSet>(path);
    const watch = await this.fleet.api.watch(path, resourceVersion);
    const available = (daemonSet: DaemonSet | undefined) => daemonSet?.status?.numberAvailable ?? 0;
    return {
      lowest: () => {
        const seen = watch.events.map(({ object }) => available(object as unknown as DaemonSet));
        watch.close();
        return Math.min(available(items[0]), ...seen);
      },
    };
  }

  /** Waits until every connected host has a ready Pod of the version and no Pod of another one. */
  async runsEverywhere(version: number): Promise<void> {
    const image = `${this.name}:${version}`;
    const isSo = async () => {
      // Run the cheap check first: lists of all Pods would take most of the machine's CPU.
      if (this.fleet.select((host) => runsImage(host, image)).length < this.fleet.reachable) return false;
      const ready = (await this.#pods()).filter(
        ({ spec, status }) =>
          spec.containers[0]?.image === image && isConditionTrue(status?.conditions, 'Ready'),
      );
      return ready.length >= this.fleet.reachable;
    };
    await until(isSo, { timeoutMs: PHASE_MS, pollMs: 500, what: `${image} on every connected host` });
  }

  /** Waits until every connected host has the image of the version. */
  async haveFetched(version: number): Promise<void> {
    const image = `${this.name}:${version}`;
    const isSo = () => this.fleet.select((host) => hasImage(host, image)).length >= this.fleet.reachable;
    await until(isSo, { timeoutMs: PHASE_MS, pollMs: 50, what: `${image} to be fetched by every host` });
  }

  async remove(): Promise<void> {
    const path = `/apis/apps/v1/namespaces/default/daemonsets/${this.name}`;
    await this.fleet.api.request('DELETE', `${path}?propagationPolicy=Background`);
    await this.fleet.api.request('DELETE', at('rolloutpolicies', this.name));
  }

  #spec(version: number, behaviour: SimulatedBehaviour) {
    const annotations = Object.fromEntries(
      Object.entries({ 'ready-after': `${this.fleet.ready.simulatedMs}ms`, ...behaviour }).map(
        ([key, text]) => [PRETENCE + key, text],
      ),
    );
    const container = { name: 'main', image: `${this.name}:${version}` };
    const spec = { containers: [container], terminationGracePeriodSeconds: 1 };
    return { template: { metadata: { labels: { app: this.name }, annotations: clean(annotations) }, spec } };
  }

  async #pods(): Promise<Pod[]> {
    const path = `/api/v1/namespaces/default/pods?labelSelector=app%3D${this.name}`;
    return (await this.fleet.api.items<Pod>(path)).items;
  }

  #daemonSet(): Promise<DaemonSet> {
    return this.fleet.api.request('GET', `/apis/apps/v1/namespaces/default/daemonsets/${this.name}`);
  }

  async #isCurrent(): Promise<boolean> {
    const { metadata, status } = await this.#daemonSet();
    return status?.observedGeneration === metadata.generation;
  }
}

/**
 * A merge patch keeps keys that it does not name, so the behaviour of an earlier release has to be removed explicitly.
 */
function clean(annotations: Record<string, string>): Record<string, string | null> {
  const all = [
    'fail',
    'fail-on',
    'fail-after',
    'fail-after-reboot',
    'ready-after',
    'pull',
    'pull-time',
    'cut-link',
  ];
  return { ...Object.fromEntries(all.map((name) => [PRETENCE + name, null])), ...annotations };
}
