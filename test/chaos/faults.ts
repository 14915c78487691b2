/** How each fault is done to the fleet. Each ends by itself: the promise resolves when it has. */
import { pause } from '../harness/until.js';
import type { ChaosHost } from './chaos-host.js';
import type { ChaosFleet } from './fleet.js';
import type { Fault } from './plan.js';

const FLAP_MS = 150;

export class Faults {
  /** What one fault has in its hands, no other takes. */
  readonly #held = new Set<string>();
  /** Hosts that are off or booting: nothing else can be done to them. */
  readonly #off = new Set<string>();

  constructor(private readonly fleet: ChaosFleet) {}

  /** Resolves with false when it could not be done, for another fault of the round was there before it. */
  async carryOut(fault: Fault): Promise<boolean> {
    if (fault.kind === 'kill coordinator') return this.#restartCoordinator(fault.downMs);
    if (fault.kind === 'hang coordinator') {
      this.fleet.hangCoordinator(true);
      await pause(fault.forMs);
      this.fleet.hangCoordinator(false);
      return true;
    }
    const host = this.fleet.hosts[fault.node];
    if (!host || this.#off.has(host.name)) return false;
    try {
      await this.#harm(host, fault);
      return true;
    } catch (error) {
      // Its power was cut while something else was done to it.
      if (this.#off.has(host.name)) return false;
      throw error;
    }
  }

  async #restartCoordinator(downMs: number): Promise<boolean> {
    return this.#whileHeld('coordinator', {
      begin: () => this.fleet.killCoordinator(),
      forMs: downMs,
      end: () => this.fleet.startCoordinator(),
    });
  }

  async #harm(host: ChaosHost, fault: Exclude<Fault, { kind: `${string} coordinator` }>): Promise<void> {
    const { name, wire } = host;
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
        return host.damageCache();
      case 'kill engine':
        return host.killEngine();
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

  /** Only a Pod's first container: from the second on, the agent rightly waits before it starts the next. */
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
      // It ended by itself, or its engine did, since it was chosen: then there was nothing to hit any more.
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

  /** Resolves with false, and nothing done, when another fault has it. */
  async #whileHeld(
    thing: string,
    { begin, forMs, end }: { begin: () => unknown; forMs: number; end: () => unknown },
  ): Promise<boolean> {
    if (this.#held.has(thing)) return false;
    this.#held.add(thing);
    try {
      await begin();
      await pause(forMs);
      await end();
      return true;
    } finally {
      this.#held.delete(thing);
    }
  }
}
