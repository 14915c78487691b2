/** The waves of a rollout as steps, with the countdown of the soak time and the error budget. */
import type { RolloutPolicy } from '../../shared/kube/rollouts/rollout-policy-types.js';
import type { RolloutStatus } from '../../shared/kube/rollouts/rollout-types.js';
import controls from '../layout/controls.module.css';
import { StatusBadge } from '../layout/status/status-badge.js';
import { SoakCountdown } from './soak-countdown.js';
import { WaveBar } from './wave-bar.js';
import classes from './wave-stepper.module.css';
import { errorBudget, waveSteps } from './wave-steps.js';

interface WaveStepperProps {
  status: RolloutStatus;
  policy: RolloutPolicy | undefined;
  /** True for a past rollout, whose soak time no longer runs. */
  isPast: boolean;
}

export function WaveStepper({ status, policy, isPast }: WaveStepperProps) {
  return (
    <section className={controls.card} aria-label="Waves">
      <h2>Waves</h2>
      <ol className={classes.steps}>
        {waveSteps(status, policy).map(({ wave, status: shown, isCurrent, isSoaking }) => (
          <li key={wave.name} data-tone={shown.tone} aria-current={isCurrent ? 'step' : undefined}>
            <h3>{wave.name}</h3>
            <StatusBadge status={shown} />
            <WaveBar counts={wave} />
            {isSoaking && !isPast && <SoakCountdown status={status} policy={policy} />}
          </li>
        ))}
      </ol>
      <Budget status={status} policy={policy} />
    </section>
  );
}

function Budget({ status, policy }: Omit<WaveStepperProps, 'isPast'>) {
  const budget = errorBudget(status, policy);
  if (!budget) return null;
  const { failed, limit, withinSeconds } = budget;
  const isStopped = status.phase === 'Failed' || status.phase === 'RolledBack';
  const isUsedUp = failed > limit && isStopped;
  return (
    <p className={isUsedUp ? controls.problem : controls.dim}>
      Error budget: {failed} of at most {limit} hosts failed
      {withinSeconds !== undefined && `, counting those within ${withinSeconds} s`}
      {isUsedUp ? '. It is used up, so the rollout has stopped.' : '.'}
    </p>
  );
}
