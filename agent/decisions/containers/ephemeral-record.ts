/**
 * What the host remembers of an ephemeral container. The engine may lose an exited one: an operator or the engine's
 * clean-up removes it. Without a record it would look as if it had never run, and would be started a second time.
 */
import type { ContainerStatus } from '../../../shared/kube/pods/pod-types.js';
import { ephemeralContainersOf } from '../pods/pod-containers.js';
import type { ContainerLocalState, EphemeralRecord, PodView } from '../pods/pod-view.js';
import { attemptsOf } from './container-attempts.js';
import { containerStatus } from './container-status.js';

type Lost = Pick<PodView, 'pod' | 'containers' | 'progress'>;

/** Returns the record of an ephemeral container that was started and that the engine no longer has. */
export function lostEphemeral(view: Lost, name: string): EphemeralRecord | undefined {
  if (attemptsOf(view, name).length > 0) return undefined;
  return recordsOf(view.progress.localStates).find((record) => record.name === name);
}

/** Returns the status of a lost container: its last one, or that its result is unknown (pkg/kubelet/kubelet_pods.go). */
export function lostStatus({ name, last }: EphemeralRecord, image: string): ContainerStatus {
  if (last) return last;
  const terminated = { exitCode: 137, reason: 'ContainerStatusUnknown', message: UNKNOWN, finishedAt: null };
  return { name, state: { terminated }, lastState: {}, ready: false, restartCount: 0, image, imageID: '' };
}

const UNKNOWN =
  'The container could not be located when the pod was deleted.  The container used to be Running';

/** Returns the records to store, by container id: of ephemeral containers that have ended since the last call. */
export function endedEphemerals(view: PodView, engine: string): [id: string, EphemeralRecord][] {
  return ephemeralContainersOf(view.pod).flatMap((container) => {
    const [current] = attemptsOf(view, container.name);
    if (current?.state !== 'exited' || view.progress.localStates[current.id]?.ephemeral?.last) return [];
    const last = containerStatus(view, container, engine);
    return [[current.id, { name: container.name, last }] as [string, EphemeralRecord]];
  });
}

function recordsOf(localStates: Readonly<Record<string, ContainerLocalState>>): EphemeralRecord[] {
  return Object.values(localStates).flatMap(({ ephemeral }) => ephemeral ?? []);
}
