/** Computes when a RolloutPolicy allows changes of hosts in the next days, by the same schedules as its rollouts. */
import {
  compileMaintenanceSchedules,
  type MaintenanceSchedule,
} from '../../../shared/calendar/maintenance-schedule.js';
import type {
  CalendarSpan,
  CalendarZone,
  ChangeCalendar,
} from '../../../shared/kube/fleet/change-calendar-types.js';
import { notFound } from '../../../shared/kube/objects/api-status.js';
import { FLEET_GROUP, type ObjectRef, toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Labels } from '../../../shared/kube/objects/selectors.js';
import type { RolloutPolicy } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';
import { calendarSpans } from '../../decisions/rollouts/calendar-spans.js';
import { BY_NAMESPACE, type Informers } from '../../informers/informer.js';
import { rolloutPolicyKind } from '../../kinds/index.js';
import { governingPolicy } from '../rollouts/rollout-decision.js';

const DAY_MS = 86_400_000;

interface PolicyCalendarsDeps {
  informers: Pick<Informers, 'nodes' | 'daemonSets' | 'rolloutPolicies'>;
  clock: Clock;
}

export class PolicyCalendars {
  readonly #deps: PolicyCalendarsDeps;

  constructor(deps: PolicyCalendarsDeps) {
    this.#deps = deps;
  }

  /** Returns the calendar from now on for `days` days. Visits all Nodes in time slices. Throws 404. */
  async calendarOf(ref: ObjectRef, days: number): Promise<ChangeCalendar> {
    const { informers, clock } = this.#deps;
    const policy = informers.rolloutPolicies.get(ref);
    if (!policy) throw notFound(rolloutPolicyKind, ref.name);
    const { namespace = '', name } = policy.metadata;
    const { paused, frozen } = policy.spec;
    const from = clock.now();
    const to = from + days * DAY_MS;
    const slice = new TimeSlice(clock);
    const zones: CalendarZone[] = [];
    for (const [own, hosts] of await this.#classes(policy)) {
      const spans: CalendarSpan[] = [];
      for (const span of calendarSpans(own, from, to)) {
        if (span) spans.push(span);
        await slice.yieldIfUsedUp();
      }
      zones.push({ zones: zonesOf(own), hosts, spans });
    }
    return {
      ...{ kind: 'ChangeCalendar', apiVersion: `${FLEET_GROUP}/v1`, policy: { namespace, name } },
      daemonSets: this.#governed(policy),
      ...{ from: toTimestamp(from), to: toTimestamp(to) },
      ...(frozen ? { held: 'frozen' } : paused ? { held: 'paused' } : {}),
      zones: zones.sort(mostHostsFirst),
    };
  }

  /** Returns the number of hosts per schedule. A policy without hosts has the schedule of a host without labels. */
  async #classes({ spec }: RolloutPolicy): Promise<Map<MaintenanceSchedule, number>> {
    const slice = new TimeSlice(this.#deps.clock);
    const classOf = compileMaintenanceSchedules(spec);
    const counts = new Map<MaintenanceSchedule, number>();
    // Label objects are shared and immutable, so most hosts are in this cache.
    const known = new WeakMap<Labels, MaintenanceSchedule>();
    for (const { metadata } of this.#deps.informers.nodes.list()) {
      const { labels = {} } = metadata;
      const own = known.get(labels) ?? classOf(labels);
      known.set(labels, own);
      counts.set(own, (counts.get(own) ?? 0) + 1);
      await slice.yieldIfUsedUp();
    }
    return counts.size > 0 ? counts : new Map([[classOf({}), 0]]);
  }

  #governed({ metadata }: RolloutPolicy): string[] {
    const { daemonSets, rolloutPolicies } = this.#deps.informers;
    const namespace = metadata.namespace ?? '';
    const policies = rolloutPolicies.indexed(BY_NAMESPACE, namespace);
    return daemonSets
      .indexed(BY_NAMESPACE, namespace)
      .filter((daemonSet) => governingPolicy(daemonSet, policies)?.metadata.name === metadata.name)
      .map((daemonSet) => daemonSet.metadata.name)
      .sort();
  }
}

/** Equal numbers of hosts are sorted by zone: in the order of the Nodes, the sections of a page would change places. */
function mostHostsFirst(a: CalendarZone, b: CalendarZone): number {
  return b.hosts - a.hosts || (a.zones.join() < b.zones.join() ? -1 : 1);
}

function zonesOf({ key }: MaintenanceSchedule): string[] {
  return [...new Set(key.split(','))].filter((name) => name !== '' && name !== '-');
}
