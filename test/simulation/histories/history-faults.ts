/** Starts each fault of a history in the simulated world, and ends all faults. */
import { epochFrom } from '../../../coordinator/decisions/restore/unknown-pod.js';
import { SeededRandom } from '../machines/seeded-random.js';
import type { SimulatedDatabase } from '../machines/simulated-store.js';
import type { SimulatedWorld } from '../machines/simulated-world.js';
import type { Fault } from './history.js';

/**
 * Number of reboots after which a host reverts a Pod. They follow so quickly that it cannot confirm the Pod in between.
 */
const REBOOTS = 3;
const REBOOT_EVERY_MS = 12_000;
const REBOOT_MS = 3_000;

export class HistoryFaults {
  readonly #world: SimulatedWorld;
  /** The oldest first. */
  readonly #backups: { content: ReturnType<SimulatedDatabase['copy']>; takenAt: number }[] = [];
  #epochs = 0;

  constructor(world: SimulatedWorld) {
    this.#world = world;
  }

  /** Starts a fault, which ends by itself. */
  start(fault: Fault): void {
    const { timeline, coordinators, fleet, disk } = this.#world;
    const host = 'node' in fault && fault.node !== null ? this.#world.hosts.get(fault.node) : undefined;
    const later = (ms: number, action: () => void) => void timeline.after(ms, action);
    switch (fault.kind) {
      case 'kill agent':
        host?.crashAgentAt(fault.crashAt);
        later(10_000, () => {
          host?.crashAgent();
          if (fault.damagesCache) host?.damageCache();
        });
        later(10_000 + fault.downMs, () => host?.startAgent());
        return;
      case 'stop agent':
        host?.stopAgent();
        later(fault.downMs, () => {
          host?.crashAgent();
          host?.startAgent();
        });
        return;
      case 'kill coordinator':
        this.#world.restartAfter(fault.downMs);
        coordinators.crashAt(fault.crashAt);
        return;
      case 'stop coordinator':
        this.#world.restartAfter(fault.downMs);
        coordinators.stop();
        return;
      case 'coordinator fault':
        fleet?.fail(fault.fault, fault.who, new SeededRandom(`fault-${fault.draw}`));
        return;
      case 'cut power':
        host?.cutPower();
        if (fault.damagesCache) host?.damageCache();
        later(fault.downMs, () => host?.boot());
        return;
      case 'cut cable':
        host?.cable.cut(timeline.now);
        later(fault.forMs, () => host?.cable.reconnect(timeline.now));
        return;
      case 'cut zone':
        this.#cutZone(fault);
        return;
      case 'reset connections':
        host?.cable.reset();
        return;
      case 'stop engine':
        host?.stopEngine(fault.killsContainers);
        later(fault.forMs, () => host?.startEngine());
        return;
      case 'end container':
        host?.endContainer(fault.index, fault.code);
        return;
      case 'jump clock':
        (host ?? coordinators).wall.offsetMs += fault.byMs;
        this.#world.note(`clock of ${host ? 'a host' : 'the coordinator'} jumps`);
        return;
      case 'fill disk':
        disk.isFull = true;
        later(fault.forMs, () => {
          disk.isFull = false;
        });
        return;
      case 'fill host disk':
        host?.fillDisk(true);
        later(fault.forMs, () => host?.fillDisk(false));
        return;
      case 'busy host':
        for (const busy of host ? [host] : this.#world.hosts.values()) {
          busy.makeBusy(true);
          later(fault.forMs, () => busy.makeBusy(false));
        }
        return;
      case 'spoil turn':
        this.#world.atNextHandover(fault.node, () => this.#spoil(fault));
        return;
      case 'press host':
        host?.press(fault.condition, true);
        later(fault.forMs, () => host?.press(fault.condition, false));
        return;
      case 'starve host':
        host?.starve(fault.of, true);
        later(fault.forMs, () => host?.starve(fault.of, false));
        return;
      case 'hang engine':
        host?.hangEngine();
        later(fault.forMs, () => host?.resumeEngine());
        return;
      case 'remove container':
        host?.removeContainer(fault.index);
        return;
      case 'write manifest':
        host?.writeManifest(fault.name, fault.image);
        return;
      case 'add host':
        this.#world.addHost(fault.index);
        return;
      case 'back up':
        this.#backups.push({ content: disk.copy(), takenAt: this.#world.coordinatorNowMs });
        return;
      case 'restore backup':
        this.#restore(fault);
        return;
    }
  }

  #spoil({ node, by, forMs }: Extract<Fault, { kind: 'spoil turn' }>): void {
    const { timeline, fleet } = this.#world;
    if (by === 'failover') {
      fleet?.fail('power cut', 'leader', new SeededRandom(`handover of ${node}`));
      return;
    }
    if (by === 'cut') {
      this.start({ kind: 'cut cable', node, forMs });
      return;
    }
    for (let reboot = 1; reboot <= REBOOTS; reboot++)
      timeline.after(reboot * REBOOT_EVERY_MS, () =>
        this.start({ kind: 'cut power', node, downMs: REBOOT_MS, damagesCache: false }),
      );
  }

  #cutZone({ zone, forMs }: Extract<Fault, { kind: 'cut zone' }>): void {
    const { hosts, timeline } = this.#world;
    const cut = [...hosts.values()].filter(({ domain }) => zone === null || domain === zone);
    for (const { cable } of cut) cable.cut(timeline.now);
    timeline.after(forMs, () => {
      for (const { cable } of cut) cable.reconnect(timeline.now);
    });
  }

  #restore({ back, downMs, confirmAfterMs }: Extract<Fault, { kind: 'restore backup' }>): void {
    const { coordinators, disk, timeline } = this.#world;
    const backup = this.#backups.at(-1 - back) ?? this.#backups[0];
    if (!backup) return;
    this.#world.restartAfter(downMs);
    coordinators.crash();
    this.#epochs += 1;
    disk.restore(backup.content, backup.takenAt, epochFrom(`epoch-${this.#epochs}`, backup.content));
    this.#world.restored();
    timeline.after(downMs + confirmAfterMs, () => coordinators.confirmRestore());
  }

  /** Ends every fault: connects cables, starts programs and hosts, and frees disk space. */
  end(): void {
    const { hosts, coordinators, fleet, disk, chronicle, timeline } = this.#world;
    chronicle.record('everyone', 'faults end');
    disk.isFull = false;
    this.#world.endFaults();
    this.#world.restartAfter(1_000);
    fleet?.endFaults();
    coordinators.start();
    for (const host of hosts.values()) {
      host.cable.reconnect(timeline.now);
      host.recover();
      if (host.isPowered) host.startEngine();
      host.boot();
      host.startAgent();
    }
    if (disk.content.isUnconfirmed) coordinators.confirmRestore();
  }
}
