/** Number of hosts by health. A click filters the fleet. The sum is the size of the fleet. */
import { Toggle } from '@base-ui/react/toggle';
import { ToggleGroup } from '@base-ui/react/toggle-group';
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
      <ToggleGroup
        className={classes.buttons}
        value={selected ? [selected] : []}
        onValueChange={([condition]) => onSelect(condition)}
      >
        {HOST_HEALTH_STATES.map((condition) => (
          <Toggle key={condition} value={condition} className={classes.count} data-condition={condition}>
            <strong>{counts[condition]}</strong> {HOST_HEALTH_NAMES[condition]}
          </Toggle>
        ))}
      </ToggleGroup>
    </fieldset>
  );
}
