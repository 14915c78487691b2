/**
 * After a restore: stores Pods that a host runs and the store has lost, and deletes Pods that the host no longer has.
 */

import { ApiError } from '../../../shared/kube/objects/api-status.js';
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

  /** Stores each genuine Pod under its old uid. Resolves when the informers show them. Rejects when the store fails. */
  async store(node: string, returned: readonly ReturnedObject[]): Promise<void> {
    const revisions = await Promise.all(returned.map((each) => this.#storeOne(node, each)));
    await this.#parts.informers.waitFor(Math.max(0, ...revisions));
  }

  /**
   * A host ahead of the backup has received everything up to the revision `receivedUpTo`. A Pod created by then that
   * the host does not have has ended since, and is deleted from the store. Resolves when the informers show the
   * deletions.
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

  /** Compares by log order. Creation times come from a clock that may have been set back since. */
  async #createdBy(revision: number, pods: readonly Pod[]): Promise<Pod[]> {
    const { registry } = this.#parts;
    const created = await Promise.all(pods.map(({ metadata }) => registry.createdAt(podKind, metadata)));
    return pods.filter((_, index) => (created[index] ?? Number.POSITIVE_INFINITY) <= revision);
  }

  /**
   * Handles a Pod that its host has removed although the store holds no deletion. After a restore the deletion was
   * lost, so the Pod is deleted again. Without a restore the Pod stays and a warning is logged. Rejects when the store
   * fails.
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

  /** Returns the revision of the write, or 0. */
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

  /** Returns the Pod if this coordinator sent it to this host after the backup. */
  #open(node: string, given: { uid: string; object: Uint8Array; seal: ObjectMac }): Pod | undefined {
    if (!this.#parts.signer.verifyAfterBackup(node, given, given.seal)) return undefined;
    const pod = JSON.parse(Buffer.from(given.object).toString()) as Pod;
    return pod.kind === 'Pod' && pod.metadata.uid === given.uid ? withoutTemplateGeneration(pod) : undefined;
  }

  /** Creates the namespace if the backup lacks it, because the Pod needs it. */
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
      const { resourceVersion } = ('deleted' in result ? result.deleted : result.terminating).metadata;
      return Number(resourceVersion ?? 0);
    } catch (error) {
      if (error instanceof ApiError && (error.reason === 'NotFound' || error.reason === 'Conflict')) return 0;
      throw error;
    }
  }
}
