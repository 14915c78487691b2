/** How connections reach the leader among several coordinators: at its address, or forwarded by a follower. */
import type { CoordinatorCore } from '../../../coordinator/coordinator-core.js';
import type { ProgramLifetime } from '../machines/program-lifetime.js';
import { acceptAgent, type Entrance } from '../machines/simulated-coordinator.js';
import type { Cable } from '../machines/simulated-network.js';
import type { Serving, SimulatedMember } from './simulated-member.js';

/** As `TIMEOUT_MS` of the rival watch. */
const RIVAL_TIMEOUT_MS = 2_000;

export interface ServingMember extends Serving {
  readonly core: CoordinatorCore;
}

/** A coordinator's machine. */
export interface Machine {
  readonly member: SimulatedMember<ServingMember>;
  readonly address: string;
  readonly cable: Cable;
  /** The leader that this one forwards connections to. */
  forwardsTo: { memberId: string; term: number } | undefined;
  /** Ends of the forwarded connections. */
  readonly spliced: Set<() => void>;
}

export class FleetRoutes {
  readonly #machines: readonly Machine[];
  readonly #note: (memberId: string, event: string) => void;

  constructor(machines: readonly Machine[], note: (memberId: string, event: string) => void) {
    this.#machines = machines;
    this.#note = note;
  }

  machine(memberId: string): Machine {
    const found = this.#machines.find(({ member }) => member.memberId === memberId);
    if (!found) throw new Error(`there is no ${memberId}`);
    return found;
  }

  /** Where a connection to this address ends. */
  entrance(address: string): Entrance {
    const entered = this.#machines.find((machine) => machine.address === address);
    const target = entered ? this.route(entered) : 'refused';
    if (!entered || typeof target === 'string')
      return { kind: target === 'refused' ? 'refused' : (target as 'waits') };
    const { process, core, leadership } = target.member.serving as ServingMember;
    return {
      ...{
        kind: 'open',
        process,
        cables: target === entered ? [entered.cable] : [entered.cable, target.cable],
      },
      accept: (node, socket, end) => {
        if (target !== entered) this.#splice(entered, leadership.term, end);
        acceptAgent(core, node, socket);
      },
    };
  }

  /** Where a connection to this machine is served, or why it is not. */
  route(entered: Machine): Machine | Exclude<Entrance['kind'], 'open'> {
    const { member, cable, forwardsTo } = entered;
    if (cable.isCut) return 'unreachable';
    if (!member.process) return 'refused';
    if (member.process.isSuspended) return 'silent';
    if (member.serving) return entered;
    const leader = forwardsTo && this.machine(forwardsTo.memberId);
    if (!leader || leader === entered) return 'waits';
    if (leader.cable.isCut || leader.member.process?.isSuspended) return 'silent';
    return leader.member.serving?.leadership.term === forwardsTo?.term ? leader : 'waits';
  }

  /** A connection that this machine forwards ends with its process. */
  #splice({ member, spliced }: Machine, term: number, end: () => void): void {
    const once = () => {
      if (spliced.delete(once)) end();
    };
    spliced.add(once);
    member.process?.signal.addEventListener('abort', once);
    this.#note(member.memberId, `forwards a connection to the leader of term ${term}`);
  }

  /** As the front door: connections to an earlier leader are closed when another one leads. */
  forward(machine: Machine, leader: { memberId: string; term: number } | undefined): void {
    if (leader && leader.term !== machine.forwardsTo?.term) for (const end of [...machine.spliced]) end();
    machine.forwardsTo = leader;
  }

  /** As `LEADER_PATH` of an address. `process` runs on the machine `asking`. */
  async termAt(server: string, process: ProgramLifetime, asking: Machine): Promise<number> {
    await process.pause(process.delayMs());
    const asked = this.#machines.find(({ address }) => address === server);
    const target = asked && !asking.cable.isCut ? this.route(asked) : 'unreachable';
    if (typeof target !== 'string') return termOf(target);
    await process.pause(target === 'refused' ? 0 : RIVAL_TIMEOUT_MS);
    throw new Error('no answer');
  }
}

/** The term in which this machine leads; 0 = it does not. */
export function termOf({ member }: Machine): number {
  return member.serving?.leadership.term ?? 0;
}
