/** How many hosts are in which condition; a press shows those alone. The counts add up to the fleet. */
import type { Host } from '../../shared/kube/host.js';
import classes from './fleet-counts.module.css';
import { CONDITION_NAMES, conditionOf, HOST_CONDITIONS, type HostCondition } from './host-condition.js';

interface FleetCountsProps {
  hosts: readonly Host[];
  chosen: HostCondition | undefined;
  onChoose: (condition: HostCondition | undefined) => void;
}

export function FleetCounts({ hosts, chosen, onChoose }: FleetCountsProps) {
  const counts = new Map<HostCondition, number>();
  for (const host of hosts) {
    const condition = conditionOf(host);
    counts.set(condition, (counts.get(condition) ?? 0) + 1);
  }
  return (
    <fieldset className={classes.counts}>
      <legend>{hosts.length === 1 ? '1 host' : `${hosts.length} hosts`}</legend>
      {HOST_CONDITIONS.map((condition) => (
        <button
          key={condition}
          type="button"
          className={classes.count}
          data-condition={condition}
          aria-pressed={chosen === condition}
          onClick={() => onChoose(chosen === condition ? undefined : condition)}
        >
          <strong>{counts.get(condition) ?? 0}</strong> {CONDITION_NAMES[condition]}
        </button>
      ))}
    </fieldset>
  );
}
