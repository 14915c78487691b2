/** The hosts of a job as a bar and as text. Waiting hosts are the empty part. */
import type { DaemonJobStatus } from '../../shared/kube/daemonjobs/daemonjob-types.js';
import classes from './job-bar.module.css';
import { jobParts, jobProgressText } from './job-text.js';

interface JobBarProps {
  status: DaemonJobStatus | undefined;
  isLarge?: boolean;
}

export function JobBar({ status, isLarge = false }: JobBarProps) {
  const parts = jobParts(status).filter(({ state }) => state !== 'Waiting');
  return (
    <div>
      <svg
        className={classes.bar}
        viewBox={`0 0 ${Math.max(status?.hosts ?? 0, 1)} 1`}
        preserveAspectRatio="none"
        aria-hidden="true"
        data-large={isLarge || undefined}
      >
        {parts.map(({ state, count }, index) => (
          <rect
            key={state}
            data-state={state}
            x={parts.slice(0, index).reduce((sum, before) => sum + before.count, 0)}
            width={count}
            height="1"
          />
        ))}
      </svg>
      <span>{jobProgressText(status)}</span>
    </div>
  );
}
