/**
 * The Services of this host: what its Pods asked for, and what every host needs. It answers while the coordinator is
 * unreachable, and after a restart. The host's own endpoints are always current.
 */
import { serviceKey } from '../../shared/kube/services/service-types.js';
import type { ServiceView } from '../../shared/kube/services/service-view.js';
import type {
  EndpointChanges,
  PodReport,
  ServiceInterest,
  ServiceViews,
} from '../../shared/link/messages/link-messages.js';
import { type Clock, every } from '../../shared/process/time/clock.js';
import type {
  HostService,
  ServiceLookup,
  ServiceLookupResult,
  ServiceProxy,
} from '../decisions/services/host-service.js';
import type { LinkServiceHandler } from '../link/link-delegate.js';
import { InterestSession } from './interest-session.js';
import { KnownServices, type OwnNode } from './known-services.js';
import { type AssignedPods, LocalPods } from './local-pods.js';
import { ServiceLookups } from './service-lookups.js';
import type { ServiceTableContent, ServiceTableFile, TableChange } from './service-table-file.js';

/** Interval of the check for Services that are no longer needed. */
const PRUNE_MS = 60_000;
const ZONE_LABEL = 'topology.kubernetes.io/zone';

interface ServiceTableDeps {
  nodeName: string;
  assigned: AssignedPods;
  /** Absent if this host applies no rules. */
  proxy: ServiceProxy | undefined;
  file: Pick<ServiceTableFile, 'markChanged' | 'flush' | 'writeFrom'>;
  /** The content of the file. */
  stored: ServiceTableContent;
  /** The boot in which this process runs. */
  bootMark: string;
  clock: Clock;
}

export class ServiceTable implements ServiceLookup, LinkServiceHandler {
  readonly #deps: ServiceTableDeps;
  readonly #known = new KnownServices();
  readonly #session = new InterestSession();
  readonly #pods: LocalPods;
  readonly #lookups: ServiceLookups;
  readonly #listeners: (() => void)[] = [];
  #zone: string;
  #stopPruning: (() => void) | undefined;
  #isRefreshing = false;
  #revision = 0;

  constructor(deps: ServiceTableDeps) {
    this.#deps = deps;
    const { assigned, stored, bootMark, file, clock } = deps;
    this.#zone = stored.zone;
    this.#lookups = new ServiceLookups({
      known: this.#known,
      session: this.#session,
      hasPodIn: (namespace) => this.hasPodIn(namespace),
      clock,
    });
    this.#pods = new LocalPods(assigned, stored.bootMark === bootMark ? stored.pods : []);
    const now = clock.now();
    const pods = this.#pods.all();
    for (const view of stored.views) this.#known.setView(view, pods, this.own, now);
    for (const key of stored.absent) this.#known.restoreAbsent(key, now);
    for (const namespace of stored.absentNamespaces) this.#known.restoreAbsentNamespace(namespace);
    file.writeFrom(() => this.#content());
  }

  /** The host's own node, for choices by zone. */
  get own(): OwnNode {
    return { node: this.#deps.nodeName, zone: this.#zone };
  }

  get hasServiceProxy(): boolean {
    return this.#deps.proxy?.isEffective ?? false;
  }

  get revision(): number {
    return this.#revision;
  }

  all(): Iterable<HostService> {
    return this.#known.services();
  }

  /** Number of Services with a view. */
  get knownServices(): number {
    return [...this.#known.services()].length;
  }

  /** Applies the stored views. */
  start(): void {
    const views = [...this.#known.services()].map(({ view }) => view);
    this.#apply(views.filter((view) => hasNewAddress(view, undefined)).map(serviceKey));
    this.#stopPruning = every(this.#deps.clock, PRUNE_MS, () => this.#prune());
  }

  async stop(): Promise<void> {
    this.#stopPruning?.();
    this.#lookups.waits.settleAll();
    await this.#deps.file.flush();
  }

  /** Calls the listener after each change of any Service. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  resolve(namespace: string, name: string): Promise<ServiceLookupResult> {
    return this.#lookups.resolve(namespace, name);
  }

  onLive(send: (interest: ServiceInterest) => void): void {
    this.#session.start(send, this.#known.interest());
  }

  onLost(): void {
    this.#session.end();
    this.#lookups.waits.settleAll();
  }

  onViews({ set, absent }: ServiceViews): void {
    const now = this.#deps.clock.now();
    const pods = this.#pods.all();
    const newAddresses = set.filter((view) => hasNewAddress(view, this.#known.service(serviceKey(view))));
    const isNew = set.some((view) => !this.#known.service(serviceKey(view)));
    for (const view of set) this.#known.setView(view, pods, this.own, now);
    const removed = absent.map((key) => this.#known.setAbsent(key, this.#session.hasAsked(key), now));
    const change = isNew ? 'newService' : 'services';
    if (set.length > 0 || removed.includes(true)) this.#changed(change, newAddresses.map(serviceKey));
    else this.#deps.file.markChanged('minor');
    for (const view of set) this.#lookups.waits.settle(serviceKey(view));
    for (const key of absent) this.#lookups.waits.settle(key);
  }

  onEndpointChanges({ changes }: EndpointChanges): void {
    const outcomes = changes.map((each) => {
      const outcome = this.#known.changeEndpoints(each);
      if (outcome === 'incomplete') this.#session.want(each.service);
      return outcome;
    });
    if (outcomes.some((outcome) => outcome !== 'unknown')) this.#changed('minor');
  }

  /** Stores the zone of the host's Node, from its labels in the welcome. */
  onNodeLabels(labels: Record<string, string> = {}): void {
    const zone = labels[ZONE_LABEL] ?? '';
    if (zone === this.#zone) return;
    this.#zone = zone;
    this.#refreshLocal();
    this.#deps.file.markChanged('services');
  }

  /** Returns true if a Pod of this host is in the namespace. */
  hasPodIn(namespace: string): boolean {
    return [...this.#deps.assigned.all()].some(({ pod }) => pod.metadata.namespace === namespace);
  }

  /** Returns the uid of the Pod of this host with this address. */
  podWithAddress(address: string): string | undefined {
    return this.#pods.withAddress(address);
  }

  /** Receives each reported status of a Pod of this host. */
  onPodReported(report: Pick<PodReport, 'uid' | 'status'>): void {
    if (!this.#pods.record(report)) return;
    this.#deps.file.markChanged('services');
    this.#refreshSoon();
  }

  /** Called when Pods were assigned, changed or removed. */
  onPodsChanged(): void {
    this.#refreshSoon();
  }

  /** Several changes of Pods at the same time need one derivation. */
  #refreshSoon(): void {
    if (this.#isRefreshing) return;
    this.#isRefreshing = true;
    queueMicrotask(() => {
      this.#isRefreshing = false;
      this.#refreshLocal();
    });
  }

  #refreshLocal(): void {
    if (this.#known.refreshLocal(this.#pods.all(), this.own)) this.#changed('services');
  }

  /** `newAddresses`: Services whose lookups wait until their rules are in effect. */
  #changed(change: TableChange, newAddresses: string[] = []): void {
    this.#revision += 1;
    this.#deps.file.markChanged(change);
    this.#apply(newAddresses);
    for (const listener of this.#listeners) listener();
  }

  #apply(newAddresses: string[]): void {
    const applying = this.#deps.proxy?.apply([...this.#known.services()]);
    if (applying) this.#lookups.waits.startApplying(newAddresses, applying);
  }

  /** Nothing expires while the coordinator is unreachable. */
  #prune(): void {
    this.#pods.prune();
    if (!this.#session.isLive) return;
    const acceptedAt = [...this.#deps.assigned.all()].map((assigned) => assigned.acceptedAt);
    const oldestPodAt = acceptedAt.length > 0 ? Math.min(...acceptedAt) : undefined;
    const { keys, hadView } = this.#known.dropUnused(oldestPodAt, this.#deps.clock.now());
    this.#session.drop(keys);
    if (hadView) this.#changed('services');
  }

  #content(): ServiceTableContent {
    return {
      zone: this.#zone,
      views: [...this.#known.views()],
      ...this.#known.absences(),
      bootMark: this.#deps.bootMark,
      pods: [...this.#pods.statuses()],
    };
  }
}

/** Returns true if packets to the Service need rules that the last view did not have. */
function hasNewAddress(view: ServiceView, before: HostService | undefined): boolean {
  if (view.addressing.type !== 'clusterIP') return false;
  const { addressing, ports } = before?.view ?? {};
  return JSON.stringify([addressing, ports]) !== JSON.stringify([view.addressing, view.ports]);
}
