/** Wires what hosts report to all that is written by it. */
import type { Clock } from '../../shared/process/clock.js';
import type { Logger } from '../../shared/process/log.js';
import type { Informers } from '../informers/informer.js';
import type { Registry } from '../registry/registry.js';
import type { ReturnedPods } from './given-back.js';
import type { ResyncTracker } from './heard-hosts.js';
import { HostReports } from './host-reports.js';
import type { LiveSessions } from './live-sessions.js';
import { MirrorPodSync } from './mirror-pods.js';
import type { NodeStatusWriter } from './node-conditions.js';
import type { PerNodeQueue } from './node-lanes.js';
import type { NodeLiveness } from './presence.js';
import type { RecordEvent } from './record-event.js';
import type { ObjectSigner } from './seal.js';
import { ReportWriter } from './status-writer.js';
import { HandoverReports } from './turned-pods.js';

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

/** Reports of live sessions, and the mirrors of the static Pods that they tell of. */
export function createHostReports(wiring: HostReportsWiring): { reports: HostReports; mirrors: MirrorPodSync } {
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
