/** Everything that a history happens to: one coordinator, its disk, a handful of hosts, their cables; and a bystander who sees all. */
import type { CoordinatorCore } from '../../../coordinator/coordinator-core.js';
import type { Change } from '../../../coordinator/store/store.js';
import { CoordinatorFleet } from '../coordinators/coordinator-fleet.js';
import { domainOf, type History, nodeName, type Step } from '../histories/history.js';
import { FLEET_RULE } from '../rules/failover-rules.js';
import { type AcknowledgedWrite, type Invariant, invariants, type Verdict } from '../rules/invariants.js';
import type { ObservedWorld, SimulatedHostFacts } from '../rules/observed-world.js';
import { StoredState } from '../rules/stored-truth.js';
import { Chronicle } from '../runs/chronicle.js';
import { count, emptyEventCounts } from '../runs/event-counts.js';
import { eventsOf } from '../runs/event-kinds.js';
import { failoverSituations } from '../runs/failover-situations.js';
import { AgentDialer } from './agent-dialer.js';
import type { SpeedFactor } from './program-lifetime.js';
import { SeededRandom } from './seeded-random.js';
import { type Coordinators, SimulatedCoordinator } from './simulated-coordinator.js';
import { type HostDeps, SimulatedHost } from './simulated-host.js';
import { Cable } from './simulated-network.js';
import { START_MS } from './simulated-process.js';
import { SimulatedDatabase } from './simulated-store.js';
import { Timeline } from './timeline.js';

/** As systemd would. */
const RESTART_MS = 2_000;
/** How a test breaks the product on purpose. */
export interface Sabotage {
  wrapCore?: (core: CoordinatorCore) => CoordinatorCore;
  isDiskLying?: boolean;
}

export class SimulatedWorld implements ObservedWorld {
  readonly timeline = new Timeline();
  readonly chronicle = new Chronicle(this.timeline);
  readonly stored = new StoredState();
  readonly userRequests = {
    deleted: new Set<string>(),
    forced: new Set<string>(),
    answered: new Set<string>(),
  };
  readonly network = { frames: 0, framesLost: 0 };
  readonly tallies = emptyEventCounts();
  readonly pace: SpeedFactor;
  readonly disk: SimulatedDatabase;
  /** Whose clock, connections and answers count: one coordinator, or several. */
  readonly coordinators: Coordinators;
  /** Present in histories of several coordinators. */
  readonly fleet: CoordinatorFleet | undefined;
  readonly hosts = new Map<string, SimulatedHost>();
  readonly #chance: SeededRandom;
  readonly #invariants: Invariant[] = invariants();
  /** The first invariant that broke, and how. */
  violation: string | undefined;
  /** Whether the coordinator's machine restarts it. */
  #restartsAfterMs = RESTART_MS;
  readonly #dialer: AgentDialer;
  /** True while leaders change and nothing else happens. */
  failoverAlone = false;
  readonly #begunSuccessors = new Set<string>();
  /** By host: what happens to it when it begins its next turn. */
  readonly #spoilers = new Map<string, () => void>();
  readonly #may: Pick<HostDeps, 'hasManifests' | 'mayStarve'>;

  constructor(history: History, sabotage: Sabotage = {}) {
    this.#chance = new SeededRandom(`${history.seed}/world`);
    this.pace = { scale: history.speed };
    const identity = this.#chance.stream('identity');
    this.disk = new SimulatedDatabase(identity.uuid(), identity.uuid(), (change) => this.#committed(change));
    this.disk.isLying = sabotage.isDiskLying ?? false;
    const { coordinators = 1 } = history;
    this.fleet = coordinators > 1 ? this.#createFleet(coordinators, sabotage) : undefined;
    this.coordinators = this.fleet ?? this.#createCoordinator(sabotage);
    const { timeline, network, pace, note, coordinators: reached } = this;
    this.#dialer = new AgentDialer({
      ...{ timeline, network, pace, note, coordinators: reached },
      chance: this.#chance,
    });
    const has = (wanted: Step['kind']) => history.steps.some(({ kind }) => kind === wanted);
    const may = { hasManifests: has('write manifest'), mayStarve: has('starve host') };
    this.#may = may;
    for (let index = 1; index <= history.nodes; index++) this.#addHost(nodeName(index), index, may);
  }

  /** A host joins, unless it is there already. */
  addHost(index: number): void {
    const name = nodeName(index);
    if (this.hosts.has(name)) return;
    this.#addHost(name, index, this.#may);
    this.hosts.get(name)?.startAgent();
  }

  get nowMs(): number {
    return this.timeline.now;
  }

  get coordinatorOffsetsMs(): ReadonlySet<number> {
    const { offsetsMs, wall } = this.coordinators;
    return offsetsMs.add(wall.offsetMs);
  }

  get coordinatorNowMs(): number {
    return START_MS + Math.round(this.timeline.now) + this.coordinators.wall.offsetMs;
  }

  readonly running = (node: string): ReturnType<SimulatedHost['running']> =>
    this.hosts.get(node)?.running() ?? [];

  readonly containers = (node: string): ReturnType<SimulatedHost['containers']> =>
    this.hosts.get(node)?.containers() ?? [];

  readonly cutSinceMs = (node: string): number | undefined => this.hosts.get(node)?.cable.cutSinceMs;

  readonly hostOf = (node: string): SimulatedHostFacts => {
    const host = this.hosts.get(node);
    const [cable, coordinator] = [host?.cable.wholeSinceMs, this.coordinators.listeningSinceMs];
    const reachable =
      cable === undefined || coordinator === undefined ? undefined : Math.max(cable, coordinator);
    return {
      boots: host?.boots ?? 0,
      busySinceMs: host?.busySinceMs,
      busyUntilMs: host?.busyUntilMs,
      resourcesShortAtMs: host?.resourcesShortAtMs,
      engineUpSinceMs: host?.engineUpSinceMs,
      reachableSinceMs: reachable,
    };
  };

  readonly staticPods = (node: string): ReturnType<SimulatedHost['staticPods']> =>
    this.hosts.get(node)?.staticPods() ?? [];

  /** Counts an event. */
  readonly note = (event: string): void => count(this.tallies.events, event);

  /** Starts the coordinator, then the agents. */
  start(): void {
    this.coordinators.start();
    for (const host of this.hosts.values()) this.timeline.after(200, () => host.startAgent());
  }

  /** Sets the downtime after the coordinator's next end. */
  restartAfter(ms: number): void {
    this.#restartsAfterMs = ms;
  }

  /** Cancels the faults that wait for a handover. */
  endFaults(): void {
    this.#spoilers.clear();
  }

  /** A client received the acknowledgement of its write. */
  acknowledged(write: AcknowledgedWrite): void {
    if (write.isDeletion) this.userRequests.answered.add(write.uid);
    this.#hold((invariant) => invariant.acknowledged?.(write, this));
  }

  /** A backup took the place of what was stored. */
  restored(): void {
    this.note('a backup takes the place of the store');
    this.userRequests.answered.clear();
    this.stored.replace(this.disk.content.values.values(), this.nowMs);
  }

  #createCoordinator({ wrapCore }: Sabotage): SimulatedCoordinator {
    const { timeline, chronicle, pace, disk, note } = this;
    const coordinator: SimulatedCoordinator = new SimulatedCoordinator({
      ...{ disk, timeline, chronicle, note, speed: pace, random: this.#chance },
      ...(wrapCore && { wrapCore }),
      onEnded: () => timeline.after(this.#restartsAfterMs, () => coordinator.start()),
    });
    return coordinator;
  }

  /** The log takes the place of the disk: a commit is stored when etcd stores it. */
  #createFleet(memberCount: number, { wrapCore }: Sabotage): CoordinatorFleet {
    const { timeline, chronicle, pace, disk, note, network } = this;
    return new CoordinatorFleet({
      ...{ memberCount, timeline, chronicle, note, wrapCore, speed: pace },
      ...{
        clusterUID: disk.clusterUID,
        epoch: disk.content.epoch,
        random: this.#chance.stream('coordinators'),
      },
      newCable: () => new Cable(network),
      restartMs: () => this.#restartsAfterMs,
      onCommit: (commit) => disk.commit(commit),
      onTerm: (term) => this.#termBegan(term),
      fail: (rule) => this.#broken(FLEET_RULE, rule),
    });
  }

  #termBegan(term: number): void {
    this.note('another term begins');
    for (const situation of failoverSituations(this.stored, this.#begunSuccessors, this.failoverAlone))
      this.note(situation);
    this.chronicle.record('etcd', `term ${term} begins`);
    this.#hold((invariant) => invariant.termBegan?.(this));
  }

  #addHost(name: string, index: number, may: Pick<HostDeps, 'hasManifests' | 'mayStarve'>): void {
    const { timeline, chronicle, pace } = this;
    const host = new SimulatedHost({
      name,
      labels: {
        zone: index % 2 === 1 ? 'a' : 'b',
        'topology.kubernetes.io/zone': domainOf(index),
      },
      domain: domainOf(index),
      clusterUID: this.disk.clusterUID,
      timeline,
      random: this.#chance.stream(name),
      speed: pace,
      chronicle,
      cable: new Cable(this.network),
      ...may,
      note: this.note,
      coordinators: this.#addressesFor(index),
      dial: (from, life, target) => this.#dialer.dial(from, life, target),
      onStarted: (on, podUid) => {
        chronicle.record(on.name, `a container of ${this.#nameOf(podUid)} runs`);
        this.note('container starts');
        this.#hold((invariant) => invariant.podStarted?.(podUid, on.name, this));
      },
      onStopped: (on, podUid) => {
        this.note('container told to stop');
        this.#hold((invariant) => invariant.podStopped?.(podUid, on.name, this));
      },
      handoverWatcher: {
        onStarted: (podUid, successorUid) => {
          this.note('host begins a turn');
          this.#begunSuccessors.add(successorUid);
          this.#spoil(name);
          chronicle.record(
            name,
            `begins its turn: ${this.#nameOf(podUid)} makes room for ${this.#nameOf(successorUid)}`,
          );
          this.#hold((invariant) => invariant.handoverStarted?.({ podUid, successorUid }, name, this));
        },
        onReverted: (podUid, reason) => {
          this.note(`host takes a Pod back: ${reason}`);
          chronicle.record(name, `takes ${this.#nameOf(podUid)} back: ${reason}`);
          this.#hold((invariant) => invariant.podReverted?.({ podUid, reason }, name, this));
        },
      },
    });
    this.hosts.set(name, host);
  }

  /** Each host is configured with one address. It learns the others from the coordinator. */
  #addressesFor(index: number): string[] {
    const { addresses } = this.coordinators;
    return addresses.slice(index % Math.max(addresses.length, 1)).slice(0, 1);
  }

  /** Runs the action when this host has started its next handover. */
  atNextHandover(node: string, action: () => void): void {
    this.#spoilers.set(node, action);
  }

  #spoil(node: string): void {
    const spoil = this.#spoilers.get(node);
    this.#spoilers.delete(node);
    if (spoil) this.timeline.after(0, spoil);
  }

  #nameOf(podUid: string): string {
    const { everStoredPods: ever, acknowledgedPods: promised } = this.stored;
    return (ever.get(podUid) ?? promised.get(podUid))?.name ?? podUid;
  }

  #committed(change: Change): void {
    const told = this.stored.take(change, this.nowMs);
    if (!told) return;
    this.chronicle.record('store', describe(told.kind, told.previous, told.current));
    for (const event of eventsOf(told)) this.note(event);
    this.#hold((invariant) => invariant.committed?.(told, this));
  }

  #hold(ask: (invariant: Invariant) => Verdict): void {
    for (const invariant of this.#invariants) {
      const verdict = ask(invariant);
      if (verdict === undefined) continue;
      count(this.tallies.checks, invariant.rule);
      if (verdict === true) continue;
      this.#broken(invariant.rule, verdict);
    }
  }

  #broken(rule: string, verdict: string): void {
    this.chronicle.record('INVARIANT', `${rule}: ${verdict}`);
    this.violation ??= `${rule}: ${verdict}`;
  }
}

type Described = {
  metadata: { name: string; generation?: number; deletionTimestamp?: string };
  spec?: object;
  status?: object;
};

/** A change of the store in a few words. */
function describe(kind: string, previous: Described | undefined, current: Described | undefined): string {
  const name = `${kind} ${(current ?? previous)?.metadata.name}`;
  if (!previous) return `${name} created${placeOf(current)}`;
  if (!current) return `${name} removed`;
  if (current.metadata.deletionTimestamp && !previous.metadata.deletionTimestamp)
    return `${name} marked for deletion`;
  const parts = (['metadata', 'spec', 'status'] as const).filter(
    (part) => JSON.stringify(previous[part]) !== JSON.stringify(current[part]),
  );
  return `${name} changed: ${parts.join(', ')}${shortStatus(kind, current)}`;
}

function placeOf(object: Described | undefined): string {
  const node = (object?.spec as { nodeName?: string } | undefined)?.nodeName;
  return node ? ` on ${node}` : '';
}

function shortStatus(kind: string, { status }: Described): string {
  const told = status as
    | { phase?: string; conditions?: { type: string; status: string }[]; observedGeneration?: number }
    | undefined;
  const conditions = told?.conditions?.filter(({ type }) => type === 'Ready' || type === 'Connected');
  const shown = conditions?.map(({ type, status: is }) => `${type}=${is}`).join(' ') ?? '';
  if (kind !== 'DaemonSet') return ` (${[told?.phase, shown].filter(Boolean).join(' ')})`;
  const { conditions: _, ...figures } = told ?? {};
  return ` ${JSON.stringify(figures)}`;
}
