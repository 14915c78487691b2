/** Timeline of one condition over the last day, coloured by status. */

import type { ConditionChange } from '../../shared/kube/fleet/host-reading-types.js';
import { countText } from '../../shared/kube/objects/meta.js';
import { type CurrentStatus, conditionIntervals } from './condition-intervals.js';
import classes from './condition-strip.module.css';

const DAY_MS = 86_400_000;

interface ConditionStripProps {
  type: string;
  present: CurrentStatus;
  /** Changes of this condition, oldest first. */
  changes: readonly ConditionChange[];
}

export function ConditionStrip({ type, present, changes }: ConditionStripProps) {
  const now = Date.now();
  const stretches = conditionIntervals(changes, present, now - DAY_MS, now);
  const words =
    stretches.length <= 1
      ? `${type} has been ${present.status}`
      : `${type} changed ${countText(stretches.length - 1, 'time')}`;
  return (
    <svg
      className={classes.strip}
      viewBox="0 0 1 1"
      preserveAspectRatio="none"
      role="img"
      aria-label={`${words} during the last day`}
    >
      {stretches.map(({ from, to, status: each }) => (
        <rect key={from} data-status={isGood(type, each)} x={from} width={to - from} height="1" />
      ))}
    </svg>
  );
}

/** `Ready` and `Connected` are good when True, pressure conditions when False. */
function isGood(type: string, status: string): 'good' | 'bad' | 'unknown' {
  if (status === 'Unknown') return 'unknown';
  const isWanted = type === 'Ready' || type === 'Connected';
  return (status === 'True') === isWanted ? 'good' : 'bad';
}
