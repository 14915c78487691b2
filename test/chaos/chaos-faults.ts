/** Injects the faults into the fleet. Each fault ends by itself: its promise resolves when it has ended. */
import { pause } from '../harness/basics/wait-until.js';
import type { ChaosFleet } from './chaos-fleet.js';
import type { ChaosHost } from './chaos-host.js';
import type { Fault, WrongClock } from './chaos-plan.js';
import { loadImages, removeImages, restoreImages, wipeImages } from './image-faults.js';
import type { RequestedState } from './requested-state.js';
import { loseAndRestore } from './restore-coordinator.js';

const FLAP_MS = 150;

export class ChaosFaults {
  /** Targets that a fault currently uses; other faults skip them. */
  readonly #held = new Set<string>();
  /** Hosts that are off or booting: other faults skip them. */
  readonly #off = new Set<string>();

  /** Violations that were observed during a fault. */
  readonly violations: string[] = [];

  /** `isDisturbed`: containers of this host may exit because of a fault of the round. */
  constructor(
    private readonly fleet: ChaosFleet,
    private readonly book: RequestedState,
    private readonly isDisturbed: (host: string) => boolean,
  ) {}

  /** Resolves with false if another fault of the round uses the same target. */
  async carryOut(fault: Fault): Promise<boolean> {
    if (!('node' in fault)) return this.#harmCoordinator(fault);
    const host = this.fleet.hosts[fault.node];
    if (!host || this.#off.has(host.name)) return false;
    try {
      await this.#harm(host, fault);
      return true;
    } catch (error) {
      // The host lost its power while this fault was being injected.
      if (this.#off.has(host.name)) return false;
      throw error;
    }
  }

  async #harmCoordinator(fault: Exclude<Fault, { node: number }>): Promise<boolean> {
    const { fleet, book, isDisturbed } = this;
    switch (fault.kind) {
      case 'kill coordinator': {
        const end = () => fleet.startCoordinator();
        return this.#whileHeld('coordinator', {
          begin: () => fleet.killCoordinator(),
          forMs: fault.downMs,
          end,
        });
      }
      case 'hang coordinator':
        fleet.hangCoordinator(true);
        await pause(fault.forMs);
        fleet.hangCoordinator(false);
        return true;
      case 'fill coordinator': {
        const end = () => fleet.fillCoordinator(false);
        const parts = { begin: () => fleet.fillCoordinator(true), forMs: fault.forMs, end };
        return this.#whileHeld('coordinator disk', parts);
      }
      case 'set coordinator clock': {
        const end = () => fleet.setCoordinatorClock(undefined);
        const parts = { begin: () => fleet.setCoordinatorClock(fault.to), forMs: fault.forMs, end };
        return this.#whileHeld('coordinator clock', parts);
      }
      case 'restore coordinator': {
        // A coordinator with a full disk refuses a restore with an error.
        const begin = async () => {
          this.violations.push(...(await loseAndRestore(fault, { fleet, book, isDisturbed })));
        };
        return this.#whileHeld(['coordinator', 'coordinator disk'], { begin });
      }
    }
  }

  async #harm(host: ChaosHost, fault: Extract<Fault, { node: number }>): Promise<void> {
    const { name, linkProxy: wire } = host;
    switch (fault.kind) {
      case 'cut link':
        return this.#lose(host, 100, fault.forMs);
      case 'lose packets':
        return this.#lose(host, fault.percent, fault.forMs);
      case 'flap link':
        for (let time = 0; time < fault.times; time += 1) {
          await this.#lose(host, 100, FLAP_MS);
          await pause(FLAP_MS);
        }
        return;
      case 'delay link':
        wire.delay(fault.delayMs);
        await pause(fault.forMs);
        wire.delay(0);
        return;
      case 'stall link': {
        const parts = { begin: () => wire.stall(), forMs: fault.forMs, end: () => wire.resume() };
        await this.#whileHeld(`stall ${name}`, parts);
        return;
      }
      case 'reset link':
        wire.reset();
        return;
      case 'kill agent':
        return host.killAgent();
      case 'hang agent':
        await host.hangAgent(true);
        await pause(fault.forMs);
        return host.hangAgent(false);
      case 'damage cache':
        await this.#whileHeld(`writes ${name}`, { begin: () => host.damageCache() });
        return;
      case 'set clock': {
        const set = (to: WrongClock | undefined) => {
          host.setClock(to);
          return host.killAgent();
        };
        const parts = { begin: () => set(fault.to), forMs: fault.forMs, end: () => set(undefined) };
        await this.#whileHeld(`clock ${name}`, parts);
        return;
      }
      case 'kill engine':
        await this.#whileHeld(`engine ${name}`, { begin: () => host.killEngine() });
        return;
      case 'restart engine':
        await this.#whileHeld(`engine ${name}`, { begin: () => host.restartEngine(fault.as) });
        return;
      case 'take images':
        // Also kills one container, which cannot restart until its image is back.
        await this.#whileHeld(`images ${name}`, {
          begin: async () => {
            await removeImages(host);
            await this.#hitContainer(host, fault.index, 'remove container');
          },
          forMs: fault.forMs,
          end: () => restoreImages(host),
        });
        return;
      case 'wipe images':
        await this.#whileHeld(`images ${name}`, {
          begin: () => wipeImages(host),
          forMs: fault.forMs,
          end: () => loadImages(host),
        });
        return;
      case 'lock disk': {
        const parts = {
          begin: () => host.lockDisk(true),
          forMs: fault.forMs,
          end: () => host.lockDisk(false),
        };
        await this.#whileHeld([`disk ${name}`, `writes ${name}`], parts);
        return;
      }
      case 'fill disk': {
        const end = () => host.fillDisk(false);
        await this.#whileHeld(`disk ${name}`, { begin: () => host.fillDisk(true), forMs: fault.forMs, end });
        return;
      }
      case 'hang engine':
        await host.hangEngine(true);
        await pause(fault.forMs);
        return host.hangEngine(false);
      case 'kill container':
      case 'remove container':
        return this.#hitContainer(host, fault.index, fault.kind);
      case 'reboot':
        return this.#whileOff(host, () => host.reboot());
      case 'cut power':
        return this.#whileOff(host, async () => {
          await host.cutPower();
          await pause(fault.offMs);
          await host.restorePower();
        });
    }
  }

  async #whileOff(host: ChaosHost, work: () => Promise<void>): Promise<void> {
    this.#off.add(host.name);
    try {
      await work();
    } finally {
      this.#off.delete(host.name);
    }
  }

  /** Hits only a Pod's first container: from the second one on, the agent applies a restart back-off. */
  async #hitContainer(
    host: ChaosHost,
    index: number,
    kind: 'kill container' | 'remove container',
  ): Promise<void> {
    const engine = host.engine();
    const all = await engine?.all().catch(() => []);
    const first = all?.filter(({ state, attempt }) => state === 'running' && attempt === 0) ?? [];
    const victim = first[index % Math.max(first.length, 1)];
    if (!engine || !victim) return;
    try {
      await (kind === 'remove container' ? engine.remove(victim.id) : engine.kill(victim.id));
    } catch (error) {
      // The container or its engine stopped after the choice, so there is no victim left.
      const now = await engine.all().catch(() => []);
      if (now.some(({ id, state }) => id === victim.id && state === 'running')) throw error;
    }
  }

  async #lose(host: ChaosHost, percent: number, forMs: number): Promise<void> {
    await this.#whileHeld(`loss ${host.name}`, {
      begin: () => host.lose(percent),
      forMs,
      end: () => host.lose(0),
    });
  }

  /** Resolves with false and does nothing if another fault uses the target. */
  async #whileHeld(
    things: string | readonly string[],
    { begin, forMs = 0, end }: { begin: () => unknown; forMs?: number; end?: () => unknown },
  ): Promise<boolean> {
    const all = [things].flat();
    if (all.some((thing) => this.#held.has(thing))) return false;
    for (const thing of all) this.#held.add(thing);
    try {
      try {
        await begin();
        await pause(forMs);
      } finally {
        await end?.();
      }
      return true;
    } finally {
      for (const thing of all) this.#held.delete(thing);
    }
  }
}
