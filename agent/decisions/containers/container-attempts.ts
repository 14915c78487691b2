/** Attempts of a Pod's containers, from the engine's state. */

import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { ContainerStateTerminated } from '../../../shared/kube/pods/pod-types.js';
import type { ContainerConfig, ObservedContainer } from '../../runtime/runtime-driver.js';
import { BOOT_LABEL, backoffOf } from '../container-spec/container-labels.js';
import type { PodView } from '../pods/pod-view.js';
import { type RestartTime, restartBackoff } from './restart-backoff.js';

/** Returns the attempts of one container, newest first. */
export function attemptsOf(view: Pick<PodView, 'containers'>, name: string): ObservedContainer[] {
  return view.containers
    .filter((container) => container.identity.container === name)
    .sort((a, b) => b.identity.attempt - a.identity.attempt);
}

/** Result of an attempt. Times in ms since the epoch. */
export interface ContainerExit {
  exitCode: number;
  finishedAt: number;
  reason: string;
  message?: string;
}

/** Exit code that containerd reports for a container that could not start. */
const START_FAILED_EXIT_CODE = 128;

/** Returns the attempt's result; undefined while it may still run. A refused start counts as a result. */
export function containerExitOf(
  view: Pick<PodView, 'progress'>,
  container: ObservedContainer,
): ContainerExit | undefined {
  const message = view.progress.messages[container.id];
  switch (container.state) {
    case 'running':
      return undefined;
    case 'created':
      return failedStart(view, container);
    case 'exited':
      return {
        exitCode: container.exitCode ?? 0,
        finishedAt: container.finishedAt ?? container.createdAt,
        reason: exitReason(container),
        ...withMessage(message || container.error),
      };
  }
}

function withMessage(message: string | undefined): { message?: string } {
  return message ? { message } : {};
}

function failedStart(
  view: Pick<PodView, 'progress'>,
  container: ObservedContainer,
): ContainerExit | undefined {
  const failure = ownValue(view.progress.failures, container.identity.container);
  const ours = failure && failure.attempt === container.identity.attempt ? failure : undefined;
  const message = container.error ?? ours?.message;
  if (!message) return undefined;
  return {
    exitCode: container.exitCode || START_FAILED_EXIT_CODE,
    finishedAt: container.finishedAt ?? ours?.failedAt ?? container.createdAt,
    reason: 'StartError',
    message,
  };
}

function exitReason(container: ObservedContainer): string {
  if (container.oomKilled) return 'OOMKilled';
  return container.exitCode === 0 ? 'Completed' : 'Error';
}

/** Returns the container state for a result; `containerID` has the form `docker://<id>`. */
export function terminatedState(
  container: ObservedContainer,
  ending: ContainerExit,
  containerID: string,
): ContainerStateTerminated {
  return {
    exitCode: ending.exitCode,
    reason: ending.reason,
    ...(ending.message ? { message: ending.message } : {}),
    startedAt: container.startedAt === undefined ? null : toTimestamp(container.startedAt),
    finishedAt: toTimestamp(ending.finishedAt),
    containerID,
  };
}

/** A result that is further in the future than this proves that the clock was set back. */
const SET_BACK_MS = 2_000;

/** Returns when the next attempt may be created. */
export function restartTimeOf(
  view: Pick<PodView, 'bootMark' | 'engineUpSince' | 'now'>,
  container: ObservedContainer,
  ending: ContainerExit,
): RestartTime {
  const boot = container.labels[BOOT_LABEL];
  const restart = restartBackoff({
    createdAt: container.createdAt,
    finishedAt: Math.min(ending.finishedAt, view.now),
    backoffMs: backoffOf(container),
    interrupted:
      (boot !== undefined && boot !== view.bootMark) ||
      (ending.reason !== 'StartError' && ending.finishedAt <= view.engineUpSince),
  });
  // After the clock was set back the elapsed delay is unknown. Start now: a delay counted from a future time could be
  // endless.
  const isSetBack = ending.finishedAt > view.now + SET_BACK_MS;
  return isSetBack ? { ...restart, at: view.now, delayMs: 0 } : restart;
}

/**
 * Returns ids of exited containers: all of a finished Pod, and otherwise all but each container's newest attempt. The
 * number of that attempt is the restart count.
 */
export function deadContainers(
  containers: readonly Pick<ObservedContainer, 'id' | 'identity' | 'state'>[],
  isOver: (podUid: string) => boolean,
): string[] {
  const newest = new Map<string, number>();
  const key = ({ podUid, container }: ObservedContainer['identity']) => `${podUid}/${container}`;
  for (const { identity } of containers) {
    newest.set(key(identity), Math.max(newest.get(key(identity)) ?? 0, identity.attempt));
  }
  return containers
    .filter(({ state }) => state === 'exited')
    .filter(({ identity }) => isOver(identity.podUid) || identity.attempt < (newest.get(key(identity)) ?? 0))
    .map(({ id }) => id);
}

/** Returns a newly created container as an inspection would show it, except for the image's digest. */
export function createdContainer(
  id: string,
  { identity, image, labels }: ContainerConfig,
  now: number,
): ObservedContainer {
  return { id, identity, state: 'created', image, imageID: '', createdAt: now, oomKilled: false, labels };
}
