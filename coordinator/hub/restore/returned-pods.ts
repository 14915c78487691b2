/** After a restore: takes over what a host runs and the store has lost, and lets go of what the host no longer holds. */

import { ApiError, isGone } from '../../../shared/kube/objects/api-status.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { ObjectDigest, ObjectMac, ReturnedObject } from '../../../shared/link/messages/link-messages.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import { type Informers, PODS_BY_NODE } from '../../informers/informer.js';
import { namespaceKind, podKind } from '../../kinds/index.js';
import type { Registry } from '../../registry/registry.js';
import type { ObjectSigner } from './object-signer.js';
import { withoutTemplateGeneration } from './without-generation.js';

interface ReturnedPodsDeps {
  registry: Registry;
  informers: Informers;
  signer: ObjectSigner;
  log: Logger;
}

export class ReturnedPods {
  readonly #parts: ReturnedPodsDeps;

  constructor(parts: ReturnedPodsDeps) {
    this.#parts = parts;
  }

  /** Stores what is genuine under its own uid; resolves when the informers show it. Rejects when the store fails. */
  async store(node: string, returned: readonly ReturnedObject[]): Promise<void> {
    const revisions = await Promise.all(returned.map((each) => this.#storeOne(node, each)));
    await this.#parts.informers.waitFor(Math.max(0, ...revisions));
  }

  /**
   * A host beyond the backup has heard everything up to the revision `heardUpTo`: a Pod created by then that it does not hold has
   * ended since, and leaves the store. Resolves when the informers show it.
   */
  async deleteNotHeld(node: string, have: readonly ObjectDigest[], heardUpTo: number): Promise<void> {
    const { informers, log } = this.#parts;
    const held = new Set(have.map(([uid]) => uid));
    const unheld = informers.pods
      .indexed(PODS_BY_NODE, node)
      .filter(({ metadata }) => !held.has(metadata.uid ?? ''));
    const ended = await this.#createdBy(heardUpTo, unheld);
    if (ended.length === 0) return;
    log.info(
      { node, pods: ended.map(({ metadata }) => metadata.name) },
      'restored Pods that have ended since',
    );
    const revisions = await Promise.all(ended.map((pod) => this.#drop(pod)));
    await informers.waitFor(Math.max(0, ...revisions));
  }

  /** Judged by the log's own order: creation times are those of a clock that may have been set back since. */
  async #createdBy(revision: number, pods: readonly Pod[]): Promise<Pod[]> {
    const { registry } = this.#parts;
    const created = await Promise.all(pods.map(({ metadata }) => registry.createdAt(podKind, metadata)));
    return pods.filter((_, index) => (created[index] ?? Number.POSITIVE_INFINITY) <= revision);
  }

  /**
   * Its host has ended a Pod that nobody deleted: a restore has undone the deletion, which the host goes through with, and the Pod
   * leaves the store. Without a restore it stays, and the host is logged. Rejects when the store fails.
   */
  async deleteEnded(node: string, pod: Pod): Promise<void> {
    const { signer: sealer, log } = this.#parts;
    const { uid, namespace, name } = pod.metadata;
    if (!sealer.isRestored) {
      log.warn({ node, uid, namespace, name }, 'agent removed a Pod that nobody deleted');
      return;
    }
    log.info({ node, uid, namespace, name }, 'restored Pod whose deletion its host has gone through with');
    await this.#drop(pod);
  }

  /** Answers the revision of the write, or 0. */
  async #storeOne(node: string, { uid, object, mac: seal }: ReturnedObject): Promise<number> {
    const { informers, log } = this.#parts;
    if (!object || !seal || informers.pods.byUid(uid)) return 0;
    const pod = this.#open(node, { uid, object, seal });
    if (!pod) {
      log.warn({ node, uid }, 'given back, but not as it was given: left where it is');
      return 0;
    }
    const { namespace, name } = pod.metadata;
    try {
      await this.#ensureNamespace(namespace ?? '');
      const { revision } = await this.#parts.registry.restoreObject(podKind, pod);
      log.info({ node, uid, namespace, name }, 'Pod given back to the store');
      return revision;
    } catch (error) {
      if (!(error instanceof ApiError) || error.code >= 500) throw error;
      log.warn({ node, uid, namespace, name, err: error }, 'Pod given back cannot be stored');
      return 0;
    }
  }

  /** The Pod, if this very host was given it after the backup. */
  #open(node: string, given: { uid: string; object: Uint8Array; seal: ObjectMac }): Pod | undefined {
    if (!this.#parts.signer.verifyAfterBackup(node, given, given.seal)) return undefined;
    const pod = JSON.parse(Buffer.from(given.object).toString()) as Pod;
    return pod.kind === 'Pod' && pod.metadata.uid === given.uid ? withoutTemplateGeneration(pod) : undefined;
  }

  /** One made after the backup is unknown as well, and what stands in it needs it. */
  async #ensureNamespace(name: string): Promise<void> {
    if (this.#parts.informers.namespaces.get({ name })) return;
    try {
      await this.#parts.registry.create(namespaceKind, undefined, { metadata: { name } });
    } catch (error) {
      if (!(error instanceof ApiError) || error.reason !== 'AlreadyExists') throw error;
    }
  }

  async #drop({ metadata }: Pod): Promise<number> {
    const preconditions = metadata.uid ? { uid: metadata.uid } : {};
    try {
      const result = await this.#parts.registry.delete(podKind, metadata, {
        gracePeriodSeconds: 0,
        preconditions,
      });
      const { resourceVersion } = result.object.metadata;
      return Number(resourceVersion ?? 0);
    } catch (error) {
      if (isGone(error)) return 0;
      throw error;
    }
  }
}
