/** Looks Services up for DNS: answers from memory, or asks the hub and waits for its answer and its rules. */
import { serviceKey } from '../../shared/kube/services/service-types.js';
import { isEndpointKey } from '../../shared/kube/services/service-view.js';
import type { Clock } from '../../shared/process/time/clock.js';
import {
  afterRequest,
  FULL_BUDGET,
  type LookupStep,
  lookupStep,
  namespaceAbsence,
  type RequestBudget,
} from '../decisions/services/host-interest.js';
import type { ServiceLookupResult } from '../decisions/services/host-service.js';
import type { InterestSession } from './interest-session.js';
import type { KnownServices } from './known-services.js';
import { LookupWaits } from './lookup-waits.js';

/** Limit of a lookup: resolvers retry after a few seconds. */
const LOOKUP_MS = 1_000;

interface ServiceLookupsDeps {
  known: KnownServices;
  session: InterestSession;
  /** Returns true if a Pod of this host is in the namespace. */
  hasPodIn: (namespace: string) => boolean;
  clock: Clock;
}

export class ServiceLookups {
  readonly waits: LookupWaits;
  readonly #deps: ServiceLookupsDeps;
  /** Names of endpoints do not use up the requests of Services. */
  readonly #budgets: Record<'service' | 'endpoint', RequestBudget> = {
    service: FULL_BUDGET,
    endpoint: FULL_BUDGET,
  };

  constructor(deps: ServiceLookupsDeps) {
    this.#deps = deps;
    this.waits = new LookupWaits(deps.clock);
  }

  async resolve(namespace: string, name: string): Promise<ServiceLookupResult> {
    const { known, clock } = this.#deps;
    const key = serviceKey({ namespace, name });
    const deadline = clock.monotonic() + LOOKUP_MS;
    const step = this.#step(key, namespace);
    known.markUsed(key, clock.now());
    if (step === 'absent' || step === 'unknown') return { state: step };
    if (step === 'refresh') this.#refreshAbsence(key);
    if (step === 'request') this.#request(key);
    if (step === 'request' || step === 'wait') await this.waits.untilAnswered(key, LOOKUP_MS);
    await this.waits.untilApplied(key, deadline - clock.monotonic());
    const service = known.service(key);
    if (service) return { state: 'known', service };
    return { state: known.knowledge(key)?.state === 'absent' ? 'absent' : 'unknown' };
  }

  #step(key: string, namespace: string): LookupStep {
    const { known, session, clock, hasPodIn } = this.#deps;
    const { isLive } = session;
    const now = clock.now();
    const knowledge = known.knowledge(key);
    const hasBudget = afterRequest(this.#budgets[budgetOf(key)], clock.monotonic()) !== undefined;
    return lookupStep(knowledge, {
      isLive,
      mayRequest: knowledge === undefined && hasBudget && known.hasRoomFor(key),
      namespaceAbsence: namespaceAbsence(known.namespaceAbsentSince(namespace), isLive, now),
      isNamespaceUsed: () => known.hasNamespace(namespace) || hasPodIn(namespace),
      now,
    });
  }

  #refreshAbsence(key: string): void {
    const { known, session, clock } = this.#deps;
    known.markRefreshed(key, clock.now());
    session.want(key);
  }

  #request(key: string): void {
    const { known, session, clock } = this.#deps;
    const budget = budgetOf(key);
    this.#budgets[budget] = afterRequest(this.#budgets[budget], clock.monotonic()) ?? this.#budgets[budget];
    const dropped = known.addRequested(key, clock.now());
    if (dropped !== undefined) session.drop([dropped]);
    session.want(key);
  }
}

function budgetOf(key: string): 'service' | 'endpoint' {
  return isEndpointKey(key) ? 'endpoint' : 'service';
}
