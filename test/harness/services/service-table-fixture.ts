/** A service table over a manual clock, with a hub and a service proxy that the test plays. */
import type { AssignedPod } from '../../../agent/decisions/pods/assigned-pod.js';
import type { HostService, ServiceLookupResult } from '../../../agent/decisions/services/host-service.js';
import type { DurableFile } from '../../../agent/desired/durable-file.js';
import { ServiceTable } from '../../../agent/services/service-table.js';
import { ServiceTableFile } from '../../../agent/services/service-table-file.js';
import type { PodStatus } from '../../../shared/kube/pods/pod-types.js';
import type { ServiceView } from '../../../shared/kube/services/service-view.js';
import type { ServiceInterest } from '../../../shared/link/messages/link-messages.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { podObject } from '../objects/object-builders.js';

/** A file in memory that counts its writes. */
export class MemoryFile implements DurableFile {
  text: string | undefined;
  writes = 0;
  readonly quarantined: string[] = [];

  read = async () => this.text;
  write = async (text: string) => {
    this.writes += 1;
    this.text = text;
  };
  quarantine = async (mark: string) => {
    this.quarantined.push(mark);
    this.text = undefined;
    return mark;
  };
}

export class TableFixture {
  readonly sent: ServiceInterest[] = [];
  readonly applied: string[][] = [];
  readonly assigned = new Map<string, AssignedPod>();
  /** Holds the application of rules until it is called. Undefined: rules are in effect at once. */
  finishApply: (() => void) | undefined;
  isApplySlow = false;
  table!: ServiceTable;

  constructor(
    readonly clock = new ManualClock(1_000_000),
    readonly file: DurableFile = new MemoryFile(),
  ) {}

  /** Starts a table over the stored content, like a new agent process. */
  async open(bootMark = 'boot-1', statuses: [uid: string, status: PodStatus][] = []): Promise<ServiceTable> {
    const file = new ServiceTableFile({ file: this.file, clock: this.clock, log: silentLogger });
    const table = new ServiceTable({
      nodeName: 'node-0',
      assigned: { all: () => this.assigned.values(), get: (uid) => this.assigned.get(uid) },
      proxy: { isEffective: true, apply: (services) => this.#apply(services) },
      file,
      stored: await file.read(),
      bootMark,
      clock: this.clock,
    });
    this.table = table;
    table.start();
    for (const [uid, status] of statuses) table.onPodReported({ uid, status });
    return table;
  }

  connect(): void {
    this.table.onLive((interest) => void this.sent.push(interest));
  }

  /** Every name that was sent as wanted since the last call. */
  wanted(): string[] {
    return this.sent.splice(0).flatMap(({ wanted }) => wanted.map(([key]) => key));
  }

  push(...set: ServiceView[]): void {
    this.table.onViews({ kind: 'serviceViews', set, absent: [] });
  }

  pushAbsent(...absent: string[]): void {
    this.table.onViews({ kind: 'serviceViews', set: [], absent });
  }

  /** Looks a Service up for which the hub has to answer with this view. */
  async resolveFromHub(view: ServiceView): Promise<ServiceLookupResult> {
    const result = this.table.resolve(view.namespace, view.name);
    await settled();
    this.push(view);
    return result;
  }

  /** Assigns a Pod with the label `app: web`. Its uid is its name. */
  assignPod(name: string, meta: object = {}, spec: object = {}): void {
    const pod = podObject(
      name,
      { nodeName: 'node-0', ...spec },
      { uid: name, labels: { app: 'web' }, ...meta },
    );
    this.assigned.set(name, {
      uid: name,
      digest: 'd',
      pod,
      acceptedAt: this.clock.now(),
      lifecycle: { kind: 'running' },
    });
    this.table?.onPodsChanged();
  }

  report(uid: string, isReady: boolean, ip = '172.17.0.2'): void {
    this.table.onPodReported({ uid, status: readyStatus(isReady, ip) });
  }

  #apply(services: readonly HostService[]): Promise<void> {
    this.applied.push(services.map(({ view }) => view.name));
    if (!this.isApplySlow) return Promise.resolve();
    return new Promise((resolve) => {
      this.finishApply = resolve;
    });
  }
}

export function readyStatus(isReady: boolean, ip = '172.17.0.2'): PodStatus {
  return {
    phase: 'Running',
    hostIP: '192.0.2.10',
    podIP: ip,
    podIPs: [{ ip }],
    conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
  };
}

/** Resolves after all callbacks that are ready now. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
