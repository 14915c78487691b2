/**
 * Allocates addresses and ports of Services (pkg/registry/core/service/storage/alloc.go). What is in use is read from the
 * stored Services, so nothing can differ from them after a restart or a restored backup. Writes in flight reserve what
 * they allocate until the informers show them.
 */
import type { Service } from '../../../shared/kube/services/service-types.js';
import { type ServiceUsage, usageOf } from '../../../shared/kube/services/service-usage.js';
import type { Random } from '../../../shared/process/time/random.js';
import type { Allocation, ServiceAllocations } from '../registry.js';
import { allocateAddress } from './allocate-address.js';
import { allocatePorts } from './allocate-ports.js';
import type { NumberRange } from './number-range.js';

interface ServiceAllocatorDeps {
  /** Undefined: Services get no addresses. */
  addresses: NumberRange | undefined;
  ports: NumberRange;
  /** Returns the Services that the informers have. */
  services: () => Iterable<Service>;
  /** Resolves when the informers show all writes that are committed now. */
  caughtUp: () => Promise<void>;
  /** Resolves when the informers show this revision. */
  waitFor: (revision: number) => Promise<void>;
  random: Random;
}

/** What a write is about to store. */
interface Reservation extends ServiceUsage {
  uid: string;
}

export class ServiceAllocator implements ServiceAllocations {
  readonly #deps: ServiceAllocatorDeps;
  readonly #inFlight = new Set<Reservation>();

  constructor(deps: ServiceAllocatorDeps) {
    this.#deps = deps;
  }

  ready(): Promise<void> {
    return this.#deps.caughtUp();
  }

  allocate(next: Service, current: Service | undefined): Allocation {
    const { addresses, ports, random } = this.#deps;
    const uid = next.metadata.uid ?? '';
    const used = this.#usedByOthers(uid);
    const choose = () => random.random();
    allocateAddress(next, current, {
      range: addresses,
      isUsed: (address) => used.addresses.has(address),
      random: choose,
    });
    allocatePorts(next, current, { range: ports, isUsed: (port) => used.ports.has(port), random: choose });
    const reservation = { uid, ...usageOf(next) };
    this.#inFlight.add(reservation);
    return { settle: (revision) => this.#settle(reservation, revision) };
  }

  #usedByOthers(uid: string): ServiceUsage {
    const addresses = new Set<string>();
    const ports = new Set<number>();
    const add = (usage: ServiceUsage) => {
      for (const address of usage.addresses) addresses.add(address);
      for (const port of usage.ports) ports.add(port);
    };
    for (const service of this.#deps.services()) if (service.metadata.uid !== uid) add(usageOf(service));
    for (const reservation of this.#inFlight) if (reservation.uid !== uid) add(reservation);
    return { addresses, ports };
  }

  #settle(reservation: Reservation, revision: number | undefined): void {
    if (revision === undefined) this.#inFlight.delete(reservation);
    else void this.#deps.waitFor(revision).then(() => this.#inFlight.delete(reservation));
  }
}
