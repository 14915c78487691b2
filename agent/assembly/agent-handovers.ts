/** Connects handovers, their confirmations and their reports. */

import { REVERTED_BY_HOST } from '../../shared/kube/handovers/host-handover.js';
import { isConditionTrue } from '../../shared/kube/objects/conditions.js';
import {
  type ConfigReference,
  configKey,
  configReferences,
} from '../../shared/kube/pods/config-reference.js';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import type { HandedOverPod, PodReport } from '../../shared/link/messages/link-messages.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Component } from '../../shared/process/service/program-lifecycle.js';
import type { Clock } from '../../shared/process/time/clock.js';
import type { FindConfig } from '../decisions/container-spec/config-lookup.js';
import { afterHandoverAcknowledged, podsNeededBy } from '../decisions/handovers/assigned-pod-handover.js';
import { openHandoverOf } from '../decisions/handovers/handover-record.js';
import { LOCK_OVERRIDDEN } from '../decisions/handovers/handover-step.js';
import type { AssignedPod } from '../decisions/pods/assigned-pod.js';
import type { DesiredCache } from '../desired/desired-cache.js';
import type { CoordinatorTime } from '../handovers/coordinator-time.js';
import { HandoverConfirmations } from '../handovers/handover-confirmations.js';
import { HandoverRunner } from '../handovers/handover-runner.js';
import type { UpdateLock } from '../handovers/update-lock.js';
import type { PrefetchedImages } from '../images/prefetched-images.js';
import type { HubContact } from '../link/link-delegate.js';
import type { PodWorkers } from '../pods/pod-workers.js';

interface AgentHandoversOptions {
  cache: DesiredCache;
  prefetched: PrefetchedImages;
  findConfig: FindConfig;
  updateLock: UpdateLock;
  time: CoordinatorTime;
  workers: PodWorkers;
  engineUpSince: () => number;
  reportHandover: (handover: HandedOverPod) => void;
  /** Called when config objects of a settled handover may no longer be needed. */
  onSettled: () => void;
  /** The boot in which this process runs. */
  bootMark: string;
  clock: Clock;
  log: Logger;
}

/** Handovers as the rest of the agent sees them. */
export interface AgentHandovers {
  /** To be started before the Pods. */
  bootComponent: Component;
  component: Component;
  onPodsChanged(): void;
  /** Called before a Pod's status is reported. */
  onPodReported(report: PodReport): void;
  onWelcome(hub: HubContact): void;
  /** Receives the coordinator's time, ms since the epoch. */
  onCoordinatorTime(serverTimeMs: number): void;
  onLinkFailed(reasons: readonly string[]): void;
  /** Called when the coordinator has committed handovers, with the uids of the successors. */
  onAcknowledged(uids: readonly string[]): void;
}

/** Creates the components; none runs before it is started. */
export function createAgentHandovers(options: AgentHandoversOptions): AgentHandovers {
  const { cache, time, workers, reportHandover } = options;
  const log = options.log.child({ component: 'handovers' });
  const onChanged = (uid: string): void => {
    workers.update([uid], []);
    if (!openHandoverOf(cache.get(uid) ?? {})) options.onSettled();
  };
  const report = (assigned: AssignedPod): void => {
    const handover = unreportedHandover(assigned);
    if (handover) reportHandover(handover);
  };
  const warn = (reason: string) => (pod: Pod, message: string) =>
    workers.emitEvent(pod.metadata.uid ?? '', { type: 'Warning', reason, message });
  const onRevert = warn(REVERTED_BY_HOST);
  const confirmations = new HandoverConfirmations({ ...options, onChanged, onRevert, log });
  const runner = new HandoverRunner({
    ...options,
    images: options.prefetched,
    coordinatorTime: time,
    linkIsLive: () => confirmations.linkIsLive,
    onWaiting: (uid, waiting) => workers.setHandoverWaiting(uid, waiting),
    onStarted: (oldUid, successor) => {
      report(successor);
      workers.update([oldUid, successor.uid], []);
      confirmations.reconcile();
    },
    onOverridden: warn(LOCK_OVERRIDDEN),
    log,
  });
  return {
    bootComponent: { name: 'reboot count of handovers', start: () => confirmations.recordBoot() },
    component: {
      name: 'handovers',
      start: () => {
        for (const assigned of cache.all()) report(assigned);
        confirmations.start();
        runner.start();
      },
      stop: () => {
        runner.stop();
        confirmations.stop();
      },
    },
    onPodsChanged: () => runner.reconcile(),
    onPodReported: ({ uid, status }) =>
      confirmations.onReadiness(uid, isConditionTrue(status.conditions, 'Ready')),
    onWelcome: (hub) => confirmations.onLinkUp(hub),
    onCoordinatorTime: (serverTimeMs) => {
      void time.update(serverTimeMs);
      runner.reconcile();
    },
    onLinkFailed: (reasons) => confirmations.onLinkFailed(reasons),
    onAcknowledged: (uids) => {
      const acknowledged = uids.flatMap((uid) => cache.get(uid) ?? []).map(afterHandoverAcknowledged);
      if (acknowledged.length === 0) return;
      cache
        .put(...acknowledged)
        .catch((error: unknown) =>
          log.warn({ err: error }, 'acknowledged handover not stored; it will be reported again'),
        );
      for (const { uid } of acknowledged) onChanged(uid);
    },
  };
}

/**
 * Returns a test whether a possible predecessor or successor uses the config object, which is then kept although the
 * hub removed it.
 */
export function isNeededByHandover(cache: DesiredCache): (reference: ConfigReference) => boolean {
  return (reference) => {
    const key = configKey(reference);
    const names = (pod: Pod) => configReferences(pod).some((each) => configKey(each) === key);
    for (const assigned of cache.all())
      if (openHandoverOf(assigned) && podsNeededBy(assigned).some(names)) return true;
    return false;
  };
}

/** Returns the handover to report; undefined if the coordinator knows it. */
function unreportedHandover(assigned: AssignedPod): HandedOverPod | undefined {
  const { uid } = assigned;
  const handover = openHandoverOf(assigned);
  if (!handover?.unreported) return undefined;
  const { uid: oldUid, pod, objectMac } = handover.predecessor;
  const object = Buffer.from(JSON.stringify(pod));
  return { uid, predecessor: { uid: oldUid, object, ...(objectMac && { mac: objectMac }) } };
}
