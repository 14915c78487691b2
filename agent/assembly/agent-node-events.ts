/** Events about the host's own Node. */
import { toTimestamp } from '../../shared/kube/objects/meta.js';
import type { ReportedEvent } from '../../shared/link/messages/link-messages.js';
import type { Clock } from '../../shared/process/time/clock.js';
import type { PodReports } from '../pods/pod-worker-deps.js';
import type { PreviousExit } from '../program/run-marker.js';

/** Emits an Event about the host's own Node. */
type EmitNodeEvent = (type: ReportedEvent['type'], reason: string, message: string) => void;

/** Returns an emitter of Events about the Node `name`, timed by the host's monotonic clock. */
export function createNodeEventEmitter(
  reports: Pick<PodReports, 'putEvent'>,
  name: string,
  clock: Clock,
): EmitNodeEvent {
  return (type, reason, message) => {
    const time = toTimestamp(clock.now());
    const involvedObject = { kind: 'Node', name, uid: name };
    reports.putEvent({
      involvedObject,
      type,
      reason,
      message,
      count: 1,
      firstTimestamp: time,
      lastTimestamp: time,
    });
  };
}

/** Emits the kubelet's start Event, after a Warning if the previous agent crashed. */
export function emitStartEvents(about: EmitNodeEvent, lastEnd: PreviousExit = 'stopped'): void {
  if (lastEnd === 'crashed') {
    about(
      'Warning',
      'AgentCrashed',
      'The agent crashed or was killed and was started again; Pods kept running.',
    );
  }
  about('Normal', 'Starting', 'Starting kubelet.');
}
