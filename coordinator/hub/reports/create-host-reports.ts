/** Connects the reports of hosts with the writers that store them. */

import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { Informers } from '../../informers/informer.js';
import type { Registry } from '../../registry/registry.js';
import type { ObjectSigner } from '../restore/object-signer.js';
import type { ResyncTracker } from '../restore/resync-tracker.js';
import type { ReturnedPods } from '../restore/returned-pods.js';
import type { LiveSessions } from '../sessions/live-sessions.js';
import type { NodeLiveness } from '../sessions/node-liveness.js';
import type { PerNodeQueue } from '../sessions/per-node-queue.js';
import { HandoverReports } from './handover-reports.js';
import { HostReports } from './host-reports.js';
import { MirrorPodSync } from './mirror-pod-sync.js';
import type { NodeStatusWriter } from './node-status-writer.js';
import type { RecordEvent } from './record-event.js';
import { ReportWriter } from './report-writer.js';

interface HostReportsWiring {
  registry: Registry;
  informers: Informers;
  liveness: NodeLiveness;
  queue: PerNodeQueue;
  live: LiveSessions;
  signer: ObjectSigner;
  nodeStatus: NodeStatusWriter;
  returnedPods: ReturnedPods;
  resync: ResyncTracker;
  recordEvent: { asAgent: RecordEvent };
  clock: Clock;
  log: Logger;
}

/** Creates the handler for reports of live sessions, and the sync of static Pods with their mirror Pods. */
export function createHostReports(wiring: HostReportsWiring): {
  reports: HostReports;
  mirrors: MirrorPodSync;
} {
  const { live, nodeStatus: conditions, returnedPods: givenBack } = wiring;
  const statusWriter = new ReportWriter({
    ...wiring,
    nodeStatus: conditions,
    onUndeletedPodEnded: (node, pod) => givenBack.deleteEnded(node, pod),
  });
  const mirrors = new MirrorPodSync(wiring, async (node, pods) => {
    const offsetMs = live.get(node)?.offsetMs ?? 0;
    await statusWriter.write({ node, offsetMs }, { pods, removed: [] });
  });
  const reports = new HostReports({
    ...wiring,
    statusWriter,
    handovers: new HandoverReports(wiring),
    mirrors,
    reportClockSkew: (node, skewMs) => conditions.reportClockSkew(node, skewMs),
    recordEvent: wiring.recordEvent.asAgent,
  });
  return { reports, mirrors };
}
