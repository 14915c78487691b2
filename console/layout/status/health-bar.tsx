/** Shares of hosts by health, as a bar. The words next to it say the same. */
import classes from './health-bar.module.css';
import { HOST_HEALTH_STATES, type HostHealth } from './host-health.js';

interface HealthBarProps {
  counts: Readonly<Partial<Record<HostHealth, number>>>;
  total: number;
}

export function HealthBar({ counts, total }: HealthBarProps) {
  const shares = HOST_HEALTH_STATES.map((health) => [health, counts[health] ?? 0] as const);
  return (
    <svg
      className={classes.bar}
      viewBox={`0 0 ${Math.max(total, 1)} 1`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {shares.map(([health, count], index) => (
        <rect
          key={health}
          data-health={health}
          x={shares.slice(0, index).reduce((sum, [, before]) => sum + before, 0)}
          width={count}
          height="1"
        />
      ))}
    </svg>
  );
}
