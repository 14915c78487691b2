/** What one agent is made over. */
import type { NodeStatus } from '../../shared/kube/nodes/node-types.js';
import type { HeartbeatReading } from '../../shared/link/heartbeat-reading.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock } from '../../shared/process/time/clock.js';
import type { Random } from '../../shared/process/time/random.js';
import type { IsolationSettings } from '../decisions/admission/host-isolation.js';
import type { ConfigCache } from '../desired/config-object-cache.js';
import type { DesiredCache } from '../desired/desired-cache.js';
import type { ManifestDirectory } from '../desired/static-pod-directory.js';
import type { CoordinatorTime } from '../handovers/coordinator-time.js';
import type { UpdateLock } from '../handovers/update-lock.js';
import type { EventJournal } from '../link/event-journal.js';
import type { LinkCertificateHandler } from '../link/link-certificate-handler.js';
import type { LinkTarget } from '../link/link-target.js';
import type { PodCounts } from '../metrics/pod-counts.js';
import type { HostInfo } from '../node/host-info.js';
import type { ProcessUsage } from '../node/process-usage.js';
import type { PodFiles } from '../pods/pod-files.js';
import type { PodVolumes } from '../pods/pod-worker-deps.js';
import type { RequestToken } from '../pods/steps/pod-token-cache.js';
import type { AgentSettings } from '../program/agent-settings.js';
import type { PreviousExit } from '../program/run-marker.js';
import type { RuntimeDriver } from '../runtime/runtime-driver.js';
import type { ImageHandling } from './agent-images.js';
import type { PressureHandling } from './agent-pressure.js';

/** What an agent stands on: a real host's, or one that is pretended. */
export interface AgentDeps {
  settings: Pick<AgentSettings, 'nodeName' | 'labels' | 'taints'>;
  target: LinkTarget;
  /** Absent for hosts that pretend. */
  certificates?: LinkCertificateHandler;
  driver: RuntimeDriver;
  /** `docker`, `podman` or `hollow`. */
  engine: string;
  cache: DesiredCache;
  config: ConfigCache;
  volumes: PodVolumes;
  /** Asks for Pods' tokens, and where Pods reach the API; absent for hosts that pretend. */
  api?: { askToken: RequestToken; server: URL; ca: () => string };
  isolation: IsolationSettings;
  files: PodFiles;
  images: ImageHandling;
  /** Absent for hosts that pretend: they are short of nothing. */
  pressure?: PressureHandling;
  /** Directory of static Pods' manifests; absent for hosts that pretend. */
  manifests?: ManifestDirectory;
  readHost: () => HostInfo;
  /** Who on the host may say 'not now'; absent: nobody. */
  updateLock?: UpdateLock;
  /** Absent: known to this process alone. */
  coordinatorTime?: CoordinatorTime;
  /** Changes the status before it is told; a real host's is told as it is. */
  amendStatus?: (status: NodeStatus) => NodeStatus;
  /** Counts Pods by what is told of them; absent: nobody asks. */
  podCounts?: Pick<PodCounts, 'recordReport' | 'forget'>;
  /** What the agent's process costs the host; absent for hosts that pretend. */
  cost?: () => ProcessUsage;
  /** How busy the host is, for its heartbeats. */
  load?: () => HeartbeatReading;
  /** Keeps what happens while nobody can be told; absent for hosts that pretend. */
  journal?: EventJournal;
  /** How the agent before this one came to its end; absent: it was stopped. */
  previousExit?: PreviousExit;
  /** Called at each welcome. */
  onLive?: () => void;
  /** Called when the link breaks or is refused (`refused: …`, `duplicate: …`), with why. */
  onFailed?: (reason: string) => void;
  /** A steady clock. */
  clock: Clock;
  /** The engine's, which may jump. */
  wallClock: Clock;
  random: Random;
  log: Logger;
}
