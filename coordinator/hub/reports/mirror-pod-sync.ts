/**
 * Keeps mirror Pods for the static Pods that connected hosts report. Translates between the uid of a mirror in the
 * store and the uid on its host. Mirrors of disconnected hosts stay unchanged.
 */

import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { ApiError, orUndefined } from '../../../shared/kube/objects/api-status.js';
import { controllerOf, type KubeObject, refText } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { staticPodUid } from '../../../shared/kube/pods/static-pod-annotations.js';
import type { MirrorPod, PodReport } from '../../../shared/link/messages/link-messages.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import { type Mirror, mirrorChanges, mirrorOf } from '../../decisions/nodes/mirror-pod-spec.js';
import { type Informers, type ObjectChange, PODS_BY_NODE } from '../../informers/informer.js';
import { nodeKind, podKind } from '../../kinds/index.js';
import { readObject } from '../../registry/admission/write-admission.js';
import type { Registry } from '../../registry/registry.js';
import type { PerNodeQueue } from '../sessions/per-node-queue.js';

interface MirrorPodSyncDeps {
  registry: Registry;
  informers: Informers;
  queue: PerNodeQueue;
  log: Logger;
}

/** The latest report of a connected host, by the uid on the host. */
interface HostMirrors {
  pods: Map<string, Pod>;
  reports: Map<string, PodReport>;
}

/** Writes the statuses of mirrors that were just created. The statuses were reported before the mirrors existed. */
type WriteStatuses = (node: string, reports: PodReport[]) => Promise<void>;

export class MirrorPodSync {
  readonly #deps: MirrorPodSyncDeps;
  readonly #hosts = new Map<string, HostMirrors>();
  readonly #writeStatuses: WriteStatuses;

  constructor(deps: MirrorPodSyncDeps, writeStatuses: WriteStatuses) {
    this.#deps = deps;
    this.#writeStatuses = writeStatuses;
    deps.informers.pods.onChange((change) => this.#podChanged(change));
  }

  /** Applies the host's list of static Pods. Resolves when their mirrors are stored. Rejects when the store fails. */
  async staticPodsReported(node: string, mirrors: readonly MirrorPod[]): Promise<void> {
    const owner = mirrors.length > 0 ? await this.#nodeNamed(node) : undefined;
    const pods = new Map(mirrors.flatMap((mirror) => (owner ? this.#decode(owner, mirror) : [])));
    const before = this.#hosts.get(node)?.reports ?? new Map<string, PodReport>();
    const reports = new Map([...before].filter(([uid]) => pods.has(uid)));
    this.#hosts.set(node, { pods, reports });
    // The common case: no static Pods and no mirrors.
    if (pods.size === 0 && this.#mirrors(node).length === 0) return;
    await this.#reconcile(node);
  }

  forget(node: string): void {
    this.#hosts.delete(node);
  }

  /** Returns the report with the uid of the mirror. Reports of other Pods are returned unchanged. */
  withStoredUid(node: string, report: PodReport): PodReport {
    const host = this.#hosts.get(node);
    if (!host?.pods.has(report.uid)) return report;
    host.reports.set(report.uid, report);
    return { ...report, uid: this.storedUid(node, report.uid) };
  }

  /** Returns the uid in the store for a uid on the host. */
  storedUid(node: string, hostUid: string): string {
    if (!this.#hosts.get(node)?.pods.has(hostUid)) return hostUid;
    const mirror = this.#mirrors(node).find((pod) => this.#shownBy(pod) === hostUid);
    return mirror?.metadata.uid ?? hostUid;
  }

  /**
   * Returns the uid on its host of a Pod in the store. It differs only if the host reports a static Pod of the same
   * namespace and name. The annotation alone is not trusted: it would give access to a Pod of another owner.
   */
  hostUid(storedUid: string): string {
    const pod = this.#deps.informers.pods.byUid(storedUid);
    return (pod && this.#shownBy(pod)) ?? storedUid;
  }

  /** Returns the uid of the host's static Pod that this Pod mirrors. Undefined if only the annotation claims so. */
  #shownBy(pod: Pod): string | undefined {
    const uid = staticPodUid(pod);
    const reported = uid === undefined ? undefined : this.#hosts.get(pod.spec.nodeName ?? '')?.pods.get(uid);
    return reported && refText(reported.metadata) === refText(pod.metadata) ? uid : undefined;
  }

  /** Returns all Pods with the mirror annotation, because mirrors without a static Pod have to be deleted. */
  #mirrors(node: string): Pod[] {
    const pods = this.#deps.informers.pods.indexed(PODS_BY_NODE, node);
    return pods.filter((pod) => staticPodUid(pod) !== undefined);
  }

  /** Reads from the store, because a Node that was just created may be missing in the informers. */
  async #nodeNamed(name: string): Promise<Node | undefined> {
    return orUndefined(async () => (await this.#deps.registry.get(nodeKind, { name })).object());
  }

  #decode(owner: Node, { uid, object }: MirrorPod): [string, Pod][] {
    const mirror = mirrorIn(object, uid, owner);
    if (mirror.kind === 'mirror') return [[uid, mirror.pod]];
    this.#deps.log.warn({ node: owner.metadata.name, uid, why: mirror.message }, 'static Pod has no mirror');
    return [];
  }

  /** Restores mirrors that a user deleted or created, if their host is connected. */
  #podChanged({ previous, current }: ObjectChange<Pod>): void {
    const pod = current ?? previous;
    const node = pod?.spec.nodeName;
    if (!pod || !node || staticPodUid(pod) === undefined || !this.#hosts.has(node)) return;
    if (previous && current && !current.metadata.deletionTimestamp) return;
    this.#reconcile(node).catch((error: unknown) => {
      this.#deps.log.warn({ node, err: error }, 'mirror Pods not reconciled');
    });
  }

  async #reconcile(node: string): Promise<void> {
    const { queue, informers } = this.#deps;
    const made: string[] = [];
    let revision = 0;
    await queue.run(node, async () => {
      const host = this.#hosts.get(node);
      if (!host) return 0;
      const { drop, create } = mirrorChanges(host.pods, this.#mirrors(node));
      const dropped = await Promise.all(drop.map((pod) => this.#drop(pod)));
      const created = await Promise.all(create.map((uid) => this.#create(node, host.pods.get(uid))));
      made.push(...create.filter((_, index) => created[index] !== 0));
      revision = Math.max(0, ...dropped, ...created);
      return revision;
    });
    // The next request for a mirror's uid must find it.
    await informers.waitFor(revision);
    const reports = made.flatMap((uid) => this.#hosts.get(node)?.reports.get(uid) ?? []);
    const stored = reports.map((report) => this.withStoredUid(node, report));
    if (stored.length > 0) await this.#writeStatuses(node, stored);
  }

  /**
   * Skips a Node that was deleted while its host is still unaware. Otherwise the garbage collector and this code would
   * delete and create the mirror forever.
   */
  async #create(node: string, pod: Pod | undefined): Promise<number> {
    if (!pod) return 0;
    const owner = await this.#nodeNamed(node);
    if (!owner || owner.metadata.uid !== controllerOf(pod.metadata)?.uid) return 0;
    return this.#attempt(node, pod, async () => {
      const record = await this.#deps.registry.create(podKind, pod.metadata.namespace, structuredClone(pod));
      return record.revision;
    });
  }

  async #drop(pod: Pod): Promise<number> {
    const preconditions = pod.metadata.uid ? { uid: pod.metadata.uid } : {};
    return this.#attempt(pod.spec.nodeName ?? '', pod, async () => {
      const options = { gracePeriodSeconds: 0, preconditions };
      const result = await this.#deps.registry.delete(podKind, pod.metadata, options);
      return revisionOf(result.object);
    });
  }

  /** Logs and ignores a refusal by the API, for example for an unknown namespace. Other failures are thrown. */
  async #attempt(node: string, pod: Pod, write: () => Promise<number>): Promise<number> {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof ApiError) || error.code >= 500) throw error;
      this.#deps.log.warn({ node, pod: refText(pod.metadata), err: error }, 'mirror Pod refused');
      return 0;
    }
  }
}

function revisionOf({ metadata }: KubeObject): number {
  return Number(metadata.resourceVersion ?? 0);
}

/** Decodes the mirror like a POST of a Pod, because a host may send anything. */
function mirrorIn(object: Uint8Array, uid: string, owner: Node): Mirror {
  try {
    const body: unknown = JSON.parse(Buffer.from(object).toString('utf8'));
    return mirrorOf(readObject(podKind, body, { fieldValidation: 'Ignore' }), uid, owner);
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof SyntaxError)) throw error;
    return { kind: 'refused', message: error.message };
  }
}
