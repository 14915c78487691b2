/** Computes the Node's status from the host and the engine, and reports its changes. */
import type { NodeStatus } from '../../shared/kube/nodes/node-types.js';
import type { ResourceList } from '../../shared/kube/pods/pod-types.js';
import type { Clock, Timer } from '../../shared/process/time/clock.js';
import type { Pressure } from '../decisions/eviction/eviction-thresholds.js';
import type { EngineInfo, RuntimeDriver, RuntimeEvent } from '../runtime/runtime-driver.js';
import type { HostInfo } from './host-info.js';
import { allocatableOf, type EngineHealth, nodeStatus, type ServiceProxyState } from './node-status.js';

/** Interval of reading the host's facts: its address and its disk may change without an event. */
const REREAD_MS = 60_000;
/** A wall clock that was set by this much causes a report, because reports contain its time. */
const CLOCK_STEP_MS = 15_000;

interface NodeStatusReporterOptions {
  nodeName: string;
  agentVersion: string;
  driver: Pick<RuntimeDriver, 'info'>;
  /** `lastAddress`: the host's address at the last call. */
  readHost: (lastAddress?: string) => HostInfo;
  /** Changes each status before it is reported. For simulated hosts. */
  transformStatus?: (status: NodeStatus) => NodeStatus;
  /** Called with each status that differs from the one before. */
  onChange: (status: NodeStatus) => void;
  /** Called when the engine stops responding, and when it responds again. */
  onEngineChange?: (health: EngineHealth) => void;
  clock: Clock;
  /** The host's clock, which may be set at any time. */
  wallClock: Pick<Clock, 'now'>;
}

export class NodeStatusReporter {
  readonly #options: NodeStatusReporterOptions;
  #host: HostInfo;
  #engine: EngineHealth = { kind: 'down', message: 'not checked yet' };
  /** Last value for `onEngineChange`. At the start the engine is expected to be up. */
  #reportedEngine: EngineHealth['kind'] = 'up';
  #lastEngine: EngineInfo | undefined;
  #engineUpSince = 0;
  #pressures: readonly Pressure[] = [];
  #serviceProxy: ServiceProxyState | undefined;
  #kubeletPort: number | undefined;
  #seenBridge: string | undefined;
  #wasDown = false;
  #status: NodeStatus | undefined;
  /** Last status for `onChange`, without heartbeat times. */
  #reported: string | undefined;
  /** Wall clock minus monotonic clock at the last `onChange`. */
  #reportedClockOffsetMs = 0;
  #timer: Timer | undefined;

  constructor(options: NodeStatusReporterOptions) {
    this.#options = options;
    this.#host = options.readHost();
  }

  get host(): HostInfo {
    return this.#host;
  }

  /** The engine's info when it last responded. Undefined before its first response. */
  get engine(): EngineInfo | undefined {
    return this.#lastEngine;
  }

  /** The resources for Pods as the Node reports them. A simulated host reports those of its template. */
  get allocatable(): ResourceList {
    return this.#compute().allocatable ?? allocatableOf(this.#host);
  }

  get pressures(): readonly Pressure[] {
    return this.#pressures;
  }

  /** Stores the pressures and reports the changed status. */
  setPressures(pressures: readonly Pressure[]): void {
    this.#pressures = pressures;
    this.#reportChange();
  }

  /** Stores the condition of the service proxy and reports the changed status. */
  setServiceProxy(state: ServiceProxyState): void {
    this.#serviceProxy = state;
    this.#reportChange();
  }

  /** Stores the port of the kubelet's pages, and reports the changed status. Undefined: not served. */
  setKubeletPort(port: number | undefined): void {
    this.#kubeletPort = port;
    this.#reportChange();
  }

  get isEngineUp(): boolean {
    return this.#engine.kind === 'up';
  }

  /** When the engine last responded again after an outage, ms since the epoch. 0 = no outage since the start. */
  get engineUpSince(): number {
    return this.#engineUpSince;
  }

  /** Returns the current status. Reports it first if it differs from the last report. */
  status(): NodeStatus {
    this.#status = this.#compute();
    if (this.#reported !== undefined) this.#reportIfChanged(this.#status);
    return this.#status;
  }

  start(): void {
    this.#timer = this.#options.clock.after(REREAD_MS, () => {
      this.refresh();
      this.start();
    });
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** `down` makes the Node not ready. `resync` means that the engine responds. */
  async onRuntimeEvent(event: RuntimeEvent): Promise<void> {
    switch (event.kind) {
      case 'container':
        return;
      case 'down':
        this.#wasDown = true;
        this.#setEngine({ kind: 'down', message: event.message });
        this.#reportChange();
        return;
      case 'resync':
        await this.#askEngine();
        this.#reportChange();
        return;
    }
  }

  async #askEngine(): Promise<void> {
    try {
      const info = await this.#options.driver.info();
      if (this.#wasDown) this.#engineUpSince = this.#options.clock.now();
      this.#wasDown = false;
      this.#lastEngine = info;
      this.#setEngine({ kind: 'up', info });
    } catch (error) {
      this.#setEngine({ kind: 'down', message: error instanceof Error ? error.message : String(error) });
    }
  }

  #setEngine(health: EngineHealth): void {
    this.#engine = health;
    if (health.kind === this.#reportedEngine) return;
    this.#reportedEngine = health.kind;
    this.#options.onEngineChange?.(health);
  }

  #compute(): NodeStatus {
    const { nodeName, agentVersion, clock } = this.#options;
    const bridge = this.#lastEngine?.podNetwork?.device;
    if (bridge !== undefined && this.#host.devices?.includes(bridge)) this.#seenBridge = bridge;
    const facts = {
      nodeName,
      agentVersion,
      host: this.#host,
      engine: this.#engine,
      ...(this.#lastEngine ? { lastEngine: this.#lastEngine } : {}),
      pressures: this.#pressures,
      ...(this.#seenBridge === undefined ? {} : { seenBridge: this.#seenBridge }),
      ...(this.#serviceProxy ? { serviceProxy: this.#serviceProxy } : {}),
      ...(this.#kubeletPort === undefined ? {} : { kubeletPort: this.#kubeletPort }),
      now: clock.now(),
    };
    const status = nodeStatus(facts, this.#status);
    return this.#options.transformStatus?.(status) ?? status;
  }

  /** Reads the host's facts and reports changes. */
  refresh(): void {
    this.#host = this.#options.readHost(this.#host.address);
    this.#reportChange();
  }

  #reportChange(): void {
    this.#reportIfChanged(this.status());
  }

  #reportIfChanged(status: NodeStatus): void {
    const text = withoutHeartbeats(status);
    const { clock, wallClock } = this.#options;
    const clockOffsetMs = wallClock.now() - clock.now();
    if (text === this.#reported && Math.abs(clockOffsetMs - this.#reportedClockOffsetMs) < CLOCK_STEP_MS)
      return;
    this.#reportedClockOffsetMs = clockOffsetMs;
    this.#reported = text;
    this.#options.onChange(status);
  }
}

function withoutHeartbeats(status: NodeStatus): string {
  return JSON.stringify(status, (key, value: unknown) => (key === 'lastHeartbeatTime' ? undefined : value));
}
