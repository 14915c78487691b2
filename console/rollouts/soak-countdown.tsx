/** Countdown of the soak time. Needs permission to read the policy. */
import { useCallback, useState } from 'react';
import type { RolloutPolicy } from '../../shared/kube/rollouts/rollout-policy-types.js';
import type { RolloutStatus } from '../../shared/kube/rollouts/rollout-types.js';
import { useInterval } from '../api/live-list.js';
import { RelativeTime } from '../layout/time/relative-time.js';

const TICK_MS = 1_000;

export function SoakCountdown({
  status,
  policy,
}: {
  status: RolloutStatus;
  policy: RolloutPolicy | undefined;
}) {
  const [now, setNow] = useState(Date.now);
  useInterval(
    TICK_MS,
    useCallback(() => setNow(Date.now()), []),
  );
  const { soakingSince, wave } = status;
  if (!soakingSince) return null;
  const seconds = policy?.spec.waves?.find(({ name }) => name === wave)?.soakSeconds;
  const since = (
    <>
      Wave {wave} is updated and soaks since <RelativeTime at={soakingSince} />.
    </>
  );
  if (!seconds) return <p>{since}</p>;
  const passed = Math.max((now - Date.parse(soakingSince)) / 1000, 0);
  return (
    <div>
      <p>
        {since} {passed < seconds ? `${countdown(seconds - passed)} left.` : 'The soak time is over.'}
      </p>
      <progress max={seconds} value={Math.min(passed, seconds)} aria-label={`Soak of wave ${wave}`} />
    </div>
  );
}

/** Formats `3725` as `1:02:05`. */
function countdown(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (number: number) => String(number).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}
