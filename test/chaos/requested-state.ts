/** The acknowledged requests of users: the state that all observations are compared with. */
import type { DaemonSet } from '../../shared/kube/daemonsets/daemonset-types.js';
import type { ApiAnswer, CoordinatorApi } from '../harness/api/coordinator-api.js';
import { pause } from '../harness/basics/wait-until.js';
import { DAEMON_SETS as DAEMON_SET_NAMES, type UserStep, type Zone } from './chaos-plan.js';

const DAEMON_SETS = '/apis/apps/v1/namespaces/default/daemonsets';
const PODS = '/api/v1/namespaces/default/pods';
const MERGE = 'application/merge-patch+json';
const BACKGROUND = { propagationPolicy: 'Background' };
const TAINT = { key: 'busy', effect: 'NoExecute' };
/** Timeout for a coordinator that is not available. */
const PATIENCE_MS = 180_000;
const AGAIN_MS = 250;

/** The last acknowledged state of a DaemonSet. */
export interface RequestedDaemonSet {
  name: string;
  /** Name of its container. No other DaemonSet uses it, and no earlier one with the same name did. */
  container: string;
  image: string;
  /** Value of the template's variable VERSION; each change sets a new one. */
  version: string;
  zone: Zone;
  surges: boolean;
}

export interface RequestedNode {
  zone: Zone;
  isTainted: boolean;
}

export class RequestedState {
  readonly daemonSets = new Map<string, RequestedDaemonSet>();
  readonly nodes = new Map<string, RequestedNode>();
  /** Containers of DaemonSets that may have had two Pods on a node during an update, in any of their versions. */
  readonly surging = new Set<string>();
  #writes = 0;
  /** Settles when the current request and all queued ones have ended. */
  #turn: Promise<void> = Promise.resolve();

  constructor(
    private readonly api: CoordinatorApi,
    private readonly hosts: readonly string[],
  ) {
    for (const host of hosts) this.nodes.set(host, { zone: null, isTainted: false });
  }

  /** True if this host must run a Pod of the DaemonSet. */
  belongs({ zone }: RequestedDaemonSet, host: string): boolean {
    const node = this.nodes.get(host);
    return node !== undefined && !node.isTainted && (zone === null || zone === node.zone);
  }

  /** Repeats the request until the coordinator acknowledges it. Requests run one after another. */
  carryOut(step: UserStep): Promise<void> {
    return this.exclusively(() => this.#carryOut(step));
  }

  /** Updates the image of each DaemonSet. */
  async changeAll(): Promise<void> {
    for (const { name, image } of [...this.daemonSets.values()])
      await this.carryOut({ kind: 'set image', name, image });
  }

  /** Runs `work` while no request is in progress. */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.then(
      () => undefined,
      () => undefined,
    );
    return done;
  }

  /**
   * Repeats all requests, like users after a coordinator lost data. A DaemonSet that was lost, or that reappeared after
   * its deletion, is created with a new container name, because Pods of the old one may still run. Call it inside
   * `exclusively`.
   */
  async resendRequests(): Promise<void> {
    for (const name of DAEMON_SET_NAMES) await this.#setAgain(name, this.daemonSets.get(name));
    for (const [index] of this.hosts.entries()) await this.#setNode(index, {});
  }

  async #setAgain(name: string, wanted: RequestedDaemonSet | undefined): Promise<void> {
    const path = `${DAEMON_SETS}/${name}`;
    const { code, body } = await this.#ask('GET', path);
    const there = code < 300 ? (body as DaemonSet).spec.template.spec.containers[0]?.name : undefined;
    this.#writes += 1;
    const version = `v${this.#writes}`;
    if (there !== undefined && there !== wanted?.container) await this.#ask('DELETE', path, BACKGROUND);
    if (!wanted) return;
    if (there !== wanted.container) this.daemonSets.delete(name);
    await this.#put({ ...wanted, version });
  }

  async #carryOut(step: UserStep): Promise<void> {
    this.#writes += 1;
    const version = `v${this.#writes}`;
    switch (step.kind) {
      case 'set daemonset':
        return this.#put({ ...step, version });
      case 'set image': {
        const known = this.daemonSets.get(step.name);
        return this.#put({ zone: null, surges: false, ...known, ...step, version });
      }
      case 'delete daemonset':
        this.daemonSets.delete(step.name);
        await this.#ask('DELETE', `${DAEMON_SETS}/${step.name}`, BACKGROUND);
        return;
      case 'label node':
        return this.#setNode(step.node, { zone: step.zone });
      case 'taint node':
        return this.#setNode(step.node, { isTainted: step.isTainted });
      case 'delete pod':
        return this.#deletePod(this.hosts[step.node] ?? '', step.index);
    }
  }

  async #put(asked: Omit<RequestedDaemonSet, 'container'>): Promise<void> {
    const { name, image, version, zone, surges } = asked;
    const known = this.daemonSets.get(name);
    const container = known?.container ?? `${name}-${version}`;
    const wanted: RequestedDaemonSet = { name, container, image, version, zone, surges };
    this.daemonSets.set(name, wanted);
    if (surges) this.surging.add(container);
    const patch = { spec: manifestOf(wanted, { zone }).spec };
    const { code } = await this.#ask('PATCH', `${DAEMON_SETS}/${name}`, patch, MERGE);
    // A 409 is fine: a coordinator that was killed before its response has stored the object.
    if (code === 404) await this.#ask('POST', DAEMON_SETS, manifestOf(wanted, zone ? { zone } : {}));
  }

  async #setNode(index: number, change: Partial<RequestedNode>): Promise<void> {
    const name = this.hosts[index] ?? '';
    const node = { zone: null, isTainted: false, ...this.nodes.get(name), ...change };
    this.nodes.set(name, node);
    const path = `/api/v1/nodes/${name}`;
    for (;;) {
      const { body } = await this.#ask('GET', path);
      const { metadata, spec } = body as {
        metadata: { resourceVersion: string };
        spec?: { taints?: Taint[] };
      };
      const others = (spec?.taints ?? []).filter(({ key }) => key !== TAINT.key);
      const taints = node.isTainted ? [...others, TAINT] : others;
      const { resourceVersion } = metadata;
      const patch = { metadata: { resourceVersion, labels: { zone: node.zone } }, spec: { taints } };
      const { code } = await this.#ask('PATCH', path, patch, MERGE);
      if (code !== 409) return;
    }
  }

  async #deletePod(host: string, index: number): Promise<void> {
    const { body } = await this.#ask('GET', `${PODS}?fieldSelector=spec.nodeName=${host}`);
    const { items } = body as { items: { metadata: { name: string } }[] };
    const pod = items[index % Math.max(items.length, 1)];
    if (pod) await this.#ask('DELETE', `${PODS}/${pod.metadata.name}`);
  }

  /** Retries while the coordinator is not available. Any rejection other than 404 or 409 is an error of the test. */
  async #ask(method: string, path: string, body?: unknown, contentType?: string): Promise<ApiAnswer> {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const answer = await this.api.send(method, path, body, contentType).catch(() => undefined);
      if (answer && (answer.code < 300 || [404, 409].includes(answer.code))) return answer;
      if (answer && answer.code < 500 && answer.code !== 429)
        throw new Error(`${method} ${path}: ${answer.code} ${JSON.stringify(answer.body)}`);
      if (performance.now() > deadline)
        throw new Error(`${method} ${path}: no response for ${PATIENCE_MS} ms`);
      await pause(AGAIN_MS);
    }
  }
}

interface Taint {
  key: string;
  effect: string;
}

function manifestOf(wanted: RequestedDaemonSet, nodeSelector: { zone?: Zone }) {
  const { name, container, image, version, surges } = wanted;
  const labels = { app: container };
  const rollingUpdate = surges ? { maxUnavailable: 0, maxSurge: 1 } : { maxUnavailable: 1, maxSurge: 0 };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name },
    spec: {
      selector: { matchLabels: labels },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate },
      template: {
        metadata: { labels },
        spec: {
          nodeSelector,
          terminationGracePeriodSeconds: 2,
          containers: [{ name: container, image, env: [{ name: 'VERSION', value: version }] }],
        },
      },
    },
  };
}
