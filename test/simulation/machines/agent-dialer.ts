/** Connects agents to coordinators, as far as cables and coordinators allow. */
import type { ProgramLifetime, SpeedFactor } from './program-lifetime.js';
import type { SeededRandom } from './seeded-random.js';
import type { DialTarget } from './simulated-agent.js';
import type { Coordinators, Entrance } from './simulated-coordinator.js';
import type { SimulatedHost } from './simulated-host.js';
import { join, type NetworkCounts, SimulatedSocket } from './simulated-network.js';
import type { Timeline } from './timeline.js';

const HANDSHAKE_TIMEOUT_MS = 15_000;
/** How long a coordinator that knows no leader keeps a connection, and how often it looks for one. */
const WAIT_FOR_LEADER_MS = 10_000;
const ROUTE_AGAIN_MS = 500;

type OpenEntrance = Extract<Entrance, { kind: 'open' }>;

interface DialerDeps {
  readonly timeline: Timeline;
  readonly network: NetworkCounts;
  readonly pace: SpeedFactor;
  readonly chance: SeededRandom;
  readonly coordinators: Coordinators;
  /** Counts an event. */
  note(event: string): void;
}

export class AgentDialer {
  readonly #deps: DialerDeps;
  #connections = 0;

  constructor(deps: DialerDeps) {
    this.#deps = deps;
  }

  /** Connects a host to a coordinator, as far as the network allows. */
  dial(host: SimulatedHost, life: ProgramLifetime, target: DialTarget): SimulatedSocket {
    const { timeline, coordinators } = this.#deps;
    this.#connections += 1;
    const chance = this.#deps.chance.stream(`connection-${this.#connections}`);
    const socket = new SimulatedSocket(life, timeline, () => host.isPowered);
    const timesOutAfter = (ms: number) =>
      void timeline.after(ms, () => socket.readyState === 0 && socket.failed('handshake timed out'));
    const connectMs = target.connectTimeoutMs ?? HANDSHAKE_TIMEOUT_MS;
    if (host.cable.isCut) {
      timesOutAfter(connectMs);
      return socket;
    }
    const enter = (waitedMs: number): void => {
      const entrance = coordinators.entrance(target.address ?? '');
      if (socket.readyState === 3) return;
      if (entrance.kind === 'open') this.#connect(host, socket, entrance, chance);
      else if (entrance.kind === 'refused') socket.failed('connect ECONNREFUSED');
      else if (entrance.kind === 'waits' && waitedMs >= WAIT_FOR_LEADER_MS)
        socket.failed('no coordinator leads');
      else if (entrance.kind === 'waits')
        timeline.after(ROUTE_AGAIN_MS, () => enter(waitedMs + ROUTE_AGAIN_MS));
      else timesOutAfter(entrance.kind === 'silent' ? HANDSHAKE_TIMEOUT_MS : connectMs);
    };
    timeline.after(chance.integer(1, 100), () => enter(0));
    return socket;
  }

  #connect(host: SimulatedHost, socket: SimulatedSocket, entrance: OpenEntrance, chance: SeededRandom): void {
    const { timeline, pace, network, note } = this.#deps;
    const { process, cables, accept } = entrance;
    note('connection made');
    const far = new SimulatedSocket(process, timeline, () => true);
    const end = join(socket, far, [host.cable, ...cables], { counts: network, timeline, chance, pace });
    accept(host.name, far, end);
    timeline.after(chance.integer(1, 50), () => socket.readyState !== 1 || socket.opened());
  }
}
