/** The time zones of all hosts, kept up to date by single changes. */
import { type TimeZone, timeZone, timeZoneOfLabel } from '../../../shared/calendar/time-zone.js';
import { TIME_ZONE_LABEL } from '../../../shared/kube/daemonjobs/daemonjob-start.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import type { Informers } from '../../informers/informer.js';

export class NodeTimeZones {
  /** Number of hosts of each zone. */
  readonly #hosts = new Map<TimeZone, number>();

  /** `changed` is called when the first host of a zone joins or the last one leaves. */
  constructor({ nodes }: Pick<Informers, 'nodes'>, changed: () => void) {
    for (const node of nodes.list()) this.#count(zoneOf(node), 1);
    nodes.onChange(({ previous, current }) => {
      const [before, after] = [previous && zoneOf(previous), current && zoneOf(current)];
      if (before === after) return;
      const { size } = this.#hosts;
      const isNew = after !== undefined && !this.#hosts.has(after);
      this.#count(after, 1);
      this.#count(before, -1);
      if (isNew || this.#hosts.size !== size) changed();
    });
  }

  list(): TimeZone[] {
    return [...this.#hosts.keys()];
  }

  #count(zone: TimeZone | undefined, by: number): void {
    if (!zone) return;
    const hosts = (this.#hosts.get(zone) ?? 0) + by;
    if (hosts > 0) this.#hosts.set(zone, hosts);
    else this.#hosts.delete(zone);
  }
}

/** Zones are shared objects. A host without a known time zone is in UTC. */
function zoneOf({ metadata }: Node): TimeZone | undefined {
  return timeZoneOfLabel(metadata.labels?.[TIME_ZONE_LABEL]) ?? timeZone('UTC');
}
