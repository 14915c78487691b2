/** Dependencies of one agent. */
import type { NodeStatus } from '../../shared/kube/nodes/node-types.js';
import type { HeartbeatReading } from '../../shared/link/heartbeat-reading.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock } from '../../shared/process/time/clock.js';
import type { Random } from '../../shared/process/time/random.js';
import type { IsolationSettings } from '../decisions/admission/host-isolation.js';
import type { ConfigCache } from '../desired/config-object-cache.js';
import type { DesiredCache } from '../desired/desired-cache.js';
import type { JobRuns } from '../desired/job-runs.js';
import type { ManifestDirectory } from '../desired/static-pod-directory.js';
import type { CoordinatorTime } from '../handovers/coordinator-time.js';
import type { UpdateLock } from '../handovers/update-lock.js';
import type { EventJournal } from '../link/event-journal.js';
import type { LinkCertificateHandler, LinkServingHandler } from '../link/link-delegate.js';
import type { LinkTarget } from '../link/link-target.js';
import type { PodCounts } from '../metrics/pod-counts.js';
import type { ProbeCounts } from '../metrics/probe-counts.js';
import type { HostInfo } from '../node/host-info.js';
import type { ProcessUsage } from '../node/process-usage.js';
import type { PodFiles } from '../pods/pod-files.js';
import type { PodVolumes } from '../pods/pod-worker-deps.js';
import type { RequestToken } from '../pods/steps/pod-token-cache.js';
import type { AgentSettings } from '../program/agent-settings.js';
import type { PreviousExit } from '../program/run-marker.js';
import type { EngineNetwork } from '../runtime/engine-network-namespace.js';
import type { RuntimeDriver } from '../runtime/runtime-driver.js';
import type { StoredServiceTable } from '../services/service-table-file.js';
import type { ImageHandling } from './agent-images.js';
import type { PressureHandling } from './agent-pressure.js';

/** Settings and state of the kubelet's pages. */
export interface KubeletInputs {
  dataDir: string;
  probes: ProbeCounts;
  /** Returns the agent's own metrics in Prometheus' text format. */
  metrics: () => string;
  config: () => object;
}

/** Dependencies of a real or a simulated host. */
export interface AgentDeps {
  settings: Pick<AgentSettings, 'nodeName' | 'labels' | 'taints'>;
  target: LinkTarget;
  /** Absent for simulated hosts. */
  certificates?: LinkCertificateHandler;
  /** Absent if the agent does not serve the kubelet's port. */
  serving?: LinkServingHandler;
  driver: RuntimeDriver;
  /** `docker`, `podman` or `hollow`. */
  engine: string;
  cache: DesiredCache;
  config: ConfigCache;
  volumes: PodVolumes;
  /** Requests Pods' tokens, and the API's address for Pods; absent for simulated hosts. */
  api?: { askToken: RequestToken; server: () => URL; ca: () => string };
  isolation: IsolationSettings;
  files: PodFiles;
  images: ImageHandling;
  /** Absent for simulated hosts, which are never under pressure. */
  pressure?: PressureHandling;
  /** Absent for simulated hosts, whose Pods have no network. */
  services?: StoredServiceTable & { servesDns: boolean; engineNetwork: () => Promise<EngineNetwork> };
  /** Directory of static Pod manifests; absent for simulated hosts. */
  manifests?: ManifestDirectory;
  readHost: () => HostInfo;
  /** Local veto against updates; absent: none. */
  updateLock?: UpdateLock;
  /** Absent: kept only in memory. */
  coordinatorTime?: CoordinatorTime;
  /** Absent: kept only in memory. */
  jobRuns?: JobRuns;
  /** Changes the status before it is reported, on simulated hosts. */
  amendStatus?: (status: NodeStatus) => NodeStatus;
  /** Counts Pods by reported phase; absent: not counted. */
  podCounts?: Pick<PodCounts, 'recordReport' | 'forget' | 'statusOf'>;
  /** Absent for simulated hosts, which have no kubelet's pages. */
  kubelet?: KubeletInputs;
  /** Resource usage of the agent's process; absent for simulated hosts. */
  cost?: () => ProcessUsage;
  /** The host's load, for heartbeats. */
  load?: () => HeartbeatReading;
  /** Keeps Events while the link is down; absent for simulated hosts. */
  journal?: EventJournal;
  /** How the previous agent ended; absent: it was stopped. */
  previousExit?: PreviousExit;
  /** Called at each welcome. */
  onLive?: () => void;
  /** Called when the link breaks or is refused, with the reason (`refused: …`, `duplicate: …`). */
  onFailed?: (reason: string) => void;
  /** A monotonic clock. */
  clock: Clock;
  /** The engine's wall clock, which may jump. */
  wallClock: Clock;
  random: Random;
  log: Logger;
}
