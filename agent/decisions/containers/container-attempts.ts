/** Reads the attempts of a Pod's containers out of what the engine shows. */

import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { ContainerStateTerminated } from '../../../shared/kube/pods/pod-types.js';
import type { ObservedContainer } from '../../runtime/runtime-driver.js';
import { BOOT_LABEL, backoffOf } from '../container-spec/container-labels.js';
import type { PodView } from '../pods/pod-view.js';
import { type RestartTime, restartBackoff } from './restart-backoff.js';

/** The attempts of one container name, newest first. */
export function attemptsOf(view: Pick<PodView, 'containers'>, name: string): ObservedContainer[] {
  return view.containers
    .filter((container) => container.identity.container === name)
    .sort((a, b) => b.identity.attempt - a.identity.attempt);
}

/** How an attempt ended. Times in ms since the epoch. */
export interface ContainerExit {
  exitCode: number;
  finishedAt: number;
  reason: string;
  message?: string;
}

/** Exit code that containerd gives a container that could not start. */
const START_FAILED_EXIT_CODE = 128;

/** How this attempt ended, or undefined while it may still run. A start that the engine refused is an end, too. */
export function containerExitOf(
  view: Pick<PodView, 'progress'>,
  container: ObservedContainer,
): ContainerExit | undefined {
  const lastWords = view.progress.messages[container.id];
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
        ...withMessage(lastWords || container.error),
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

/** The ending as a container state; `containerID` in the form `docker://<id>`. */
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

/** What ended so much later than now was ended before the clock was set back; less is the reading's own noise. */
const SET_BACK_MS = 2_000;

/** When the next attempt after this one may be created. */
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
  // Since when it waits nobody can tell, and counted from an end in the future the wait would never be over.
  const isSetBack = ending.finishedAt > view.now + SET_BACK_MS;
  return isSetBack ? { ...restart, at: view.now, delayMs: 0 } : restart;
}
