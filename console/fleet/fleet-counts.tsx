/** Number of hosts by health. A click filters the fleet. The sum is the size of the fleet. */
import { countText } from '../../shared/kube/objects/meta.js';
import { HOST_HEALTH_NAMES, HOST_HEALTH_STATES, type HostHealth } from '../layout/status/host-health.js';
import classes from './fleet-counts.module.css';

interface FleetCountsProps {
  total: number;
  counts: Readonly<Record<HostHealth, number>>;
  selected: HostHealth | undefined;
  onSelect: (condition: HostHealth | undefined) => void;
}

export function FleetCounts({ total, counts, selected, onSelect }: FleetCountsProps) {
  return (
    <fieldset className={classes.counts}>
      <legend>{countText(total, 'host')}</legend>
      {HOST_HEALTH_STATES.map((condition) => (
        <button
          key={condition}
          type="button"
          className={classes.count}
          data-condition={condition}
          aria-pressed={selected === condition}
          onClick={() => onSelect(selected === condition ? undefined : condition)}
        >
          <strong>{counts[condition]}</strong> {HOST_HEALTH_NAMES[condition]}
        </button>
      ))}
    </fieldset>
  );
}
