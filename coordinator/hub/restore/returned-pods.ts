/**
 * After a restore: stores Pods that a host runs and the store has lost, and deletes Pods that the host no longer has.
 */

import { TEMPLATE_GENERATION_LABEL } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { ApiError, isGone } from '../../../shared/kube/objects/api-status.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { ObjectDigest, ObjectMac, ReturnedObject } from '../../../shared/link/messages/link-messages.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import { type Informers, PODS_BY_NODE } from '../../informers/informer.js';
import { namespaceKind, podKind } from '../../kinds/index.js';
import type { Registry } from '../../registry/registry.js';
import type { ObjectSigner } from './object-signer.js';

/** A restore that waits for an operator's confirmation. Implemented by the coordinator's `RestoreState`. */
export interface PendingRestore {
  /** While this is defined, hosts keep Pods that the store does not know. */
  unconfirmed(): object | undefined;
  readonly confirmed: Promise<void>;
}

interface ReturnedPodsDeps {
  registry: Registry;
  informers: Informers;
  signer: ObjectSigner;
  log: Logger;
}

export class ReturnedPods {
  readonly #deps: ReturnedPodsDeps;

  constructor(deps: ReturnedPodsDeps) {
    this.#deps = deps;
  }

  /** Stores each genuine Pod under its old uid. Resolves when the informers show them. Rejects when the store fails. */
  async store(node: string, returned: readonly ReturnedObject[]): Promise<void> {
    const revisions = await Promise.all(returned.map((each) => this.#storeOne(node, each)));
    await this.#deps.informers.waitFor(Math.max(0, ...revisions));
  }

  /**
   * A host ahead of the backup has received everything up to the revision `receivedUpTo`. A Pod created by then that
   * the host does not have has ended since, and is deleted from the store. Resolves when the informers show the
   * deletions.
   */
  async deleteNotHeld(node: string, have: readonly ObjectDigest[], receivedUpTo: number): Promise<void> {
    const { informers, log } = this.#deps;
    const held = new Set(have.map(([uid]) => uid));
    const notHeld = informers.pods
      .indexed(PODS_BY_NODE, node)
      .filter(({ metadata }) => !held.has(metadata.uid ?? ''));
    const ended = await this.#createdBy(receivedUpTo, notHeld);
    if (ended.length === 0) return;
    log.info(
      { node, pods: ended.map(({ metadata }) => metadata.name) },
      'deleting restored Pods that ended after the backup',
    );
    const revisions = await Promise.all(ended.map((pod) => this.#delete(pod)));
    await informers.waitFor(Math.max(0, ...revisions));
  }

  /** Compares by log order. Creation times come from a clock that may have been set back since. */
  async #createdBy(revision: number, pods: readonly Pod[]): Promise<Pod[]> {
    const { registry } = this.#deps;
    const created = await Promise.all(pods.map(({ metadata }) => registry.createdAt(podKind, metadata)));
    return pods.filter((_, index) => (created[index] ?? Number.POSITIVE_INFINITY) <= revision);
  }

  /**
   * Handles a Pod that its host has removed although the store holds no deletion. After a restore the deletion was
   * lost, so the Pod is deleted again. Without a restore the Pod stays and a warning is logged. Rejects when the store
   * fails.
   */
  async deleteEnded(node: string, pod: Pod): Promise<void> {
    const { signer, log } = this.#deps;
    const { uid, namespace, name } = pod.metadata;
    if (!signer.isRestored) {
      log.warn({ node, uid, namespace, name }, 'agent removed a Pod that is not marked for deletion');
      return;
    }
    log.info({ node, uid, namespace, name }, 'deleting a restored Pod that its host had already deleted');
    await this.#delete(pod);
  }

  /** Returns the revision of the write, or 0. */
  async #storeOne(node: string, { uid, object, mac }: ReturnedObject): Promise<number> {
    const { informers, log } = this.#deps;
    if (!object || !mac || informers.pods.byUid(uid)) return 0;
    const pod = this.#verified(node, { uid, object, mac });
    if (!pod) {
      log.warn({ node, uid }, 'returned Pod has an invalid MAC, ignored');
      return 0;
    }
    const { namespace, name } = pod.metadata;
    try {
      await this.#ensureNamespace(namespace ?? '');
      const { revision } = await this.#deps.registry.restoreObject(podKind, pod);
      log.info({ node, uid, namespace, name }, 'returned Pod stored');
      return revision;
    } catch (error) {
      if (!(error instanceof ApiError) || error.code >= 500) throw error;
      log.warn({ node, uid, namespace, name, err: error }, 'returned Pod refused');
      return 0;
    }
  }

  /** Returns the Pod if this coordinator sent it to this host after the backup. */
  #verified(node: string, returned: { uid: string; object: Uint8Array; mac: ObjectMac }): Pod | undefined {
    if (!this.#deps.signer.verifyAfterBackup(node, returned, returned.mac)) return undefined;
    const pod = JSON.parse(Buffer.from(returned.object).toString()) as Pod;
    return pod.kind === 'Pod' && pod.metadata.uid === returned.uid
      ? withoutTemplateGeneration(pod)
      : undefined;
  }

  /** Creates the namespace if the backup lacks it, because the Pod needs it. */
  async #ensureNamespace(name: string): Promise<void> {
    if (this.#deps.informers.namespaces.get({ name })) return;
    try {
      await this.#deps.registry.create(namespaceKind, undefined, { metadata: { name } });
    } catch (error) {
      if (!(error instanceof ApiError) || error.reason !== 'AlreadyExists') throw error;
    }
  }

  async #delete({ metadata }: Pod): Promise<number> {
    const preconditions = metadata.uid ? { uid: metadata.uid } : {};
    try {
      const result = await this.#deps.registry.delete(podKind, metadata, {
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

/**
 * After a restore both coordinators count generations onward from the backup. By the number alone, a Pod of the lost
 * one would match a template that it was not created from, and would never be replaced. Its revision hash still
 * identifies the template.
 */
export function withoutTemplateGeneration(pod: Pod): Pod {
  const { [TEMPLATE_GENERATION_LABEL]: generation, ...labels } = pod.metadata.labels ?? {};
  return generation === undefined ? pod : { ...pod, metadata: { ...pod.metadata, labels } };
}
