/** Adds up the availability of hosts for the fleet and for the values of a label. Pure: no clock and no I/O. */
import type { AvailabilitySums, FleetAvailability } from '../../../shared/kube/fleet/availability-types.js';
import { canNameSites } from '../../../shared/kube/fleet/site-labels.js';
import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import { NOTHING, sumOfShares } from './availability-share.js';

/** The answer of `hostavailability` without its kind. */
export type FleetShares = Omit<FleetAvailability, 'kind' | 'apiVersion'>;

const NO_SUMS: AvailabilitySums = { day: NOTHING, week: NOTHING };

export class FleetSums {
  readonly #by: string | undefined;
  #all = NO_SUMS;
  readonly #groups = new Map<string | undefined, AvailabilitySums & { hosts: number }>();
  readonly #labels = new Map<string, { values: Set<string>; hosts: number }>();

  /** `by`: a label whose values divide the hosts into groups. */
  constructor(by: string | undefined) {
    this.#by = by;
  }

  /** `sums`: undefined for a Node that has never reported. It counts as a host of its site all the same. */
  add(labels: Readonly<Record<string, string>> = {}, sums: AvailabilitySums = NO_SUMS): void {
    this.#all = plus(this.#all, sums);
    for (const [key, value] of Object.entries(labels)) {
      const label = this.#labels.get(key) ?? { values: new Set(), hosts: 0 };
      this.#labels.set(key, label);
      label.values.add(value);
      label.hosts += 1;
    }
    if (this.#by === undefined) return;
    const value = ownValue(labels, this.#by);
    const { hosts, ...before } = this.#groups.get(value) ?? { hosts: 0, ...NO_SUMS };
    this.#groups.set(value, { ...plus(before, sums), hosts: hosts + 1 });
  }

  result(): FleetShares {
    const labels = [...this.#labels].filter(([, { values, hosts }]) => canNameSites(values.size, hosts));
    return {
      ...this.#all,
      labels: labels.map(([key]) => key).sort(),
      groups: [...this.#groups].map(([value, sums]) => ({
        ...(value === undefined ? {} : { value }),
        ...sums,
      })),
    };
  }
}

function plus(a: AvailabilitySums, b: AvailabilitySums): AvailabilitySums {
  return { day: sumOfShares(a.day, b.day), week: sumOfShares(a.week, b.week) };
}
