/** Progress of a wave as a bar and as text. */
import type { RolloutCounts } from '../../shared/kube/rollouts/rollout-types.js';
import classes from './wave-bar.module.css';

const PARTS = [
  ['updated', 'updated'],
  ['failed', 'failed'],
  ['deferred', 'offline'],
  ['outsideWindow', 'outside window'],
  ['skipped', 'skipped'],
] as const;

export function WaveBar({ counts }: { counts: RolloutCounts }) {
  const parts = PARTS.filter(([key]) => counts[key] > 0);
  const words = [`${counts.updated} of ${counts.nodes} updated`];
  for (const [key, name] of parts) if (key !== 'updated') words.push(`${counts[key]} ${name}`);
  return (
    <div>
      <svg
        className={classes.bar}
        viewBox={`0 0 ${Math.max(counts.nodes, 1)} 1`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {parts.map(([key], index) => (
          <rect
            key={key}
            data-part={key}
            x={parts.slice(0, index).reduce((sum, [before]) => sum + counts[before], 0)}
            width={counts[key]}
            height="1"
          />
        ))}
      </svg>
      <span>{words.join(', ')}</span>
    </div>
  );
}
