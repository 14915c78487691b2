/** The RolloutPolicy that decides when hosts may start a job. */
import { Link } from 'wouter';
import type { DaemonJob } from '../../shared/kube/daemonjobs/daemonjob-types.js';
import { countText } from '../../shared/kube/objects/meta.js';
import type { RolloutPolicy } from '../../shared/kube/rollouts/rollout-policy-types.js';
import { useLiveList } from '../api/live-list.js';
import controls from '../layout/controls.module.css';
import { jobsPath } from './job-text.js';

export function JobPolicy({ job: { metadata, spec } }: { job: DaemonJob }) {
  const { namespace = '' } = metadata;
  const { rolloutPolicyName: name } = spec;
  return (
    <section className={controls.card} aria-label="Policy">
      <h2>When hosts may start</h2>
      {name === undefined ? (
        <p>At any time: the job names no RolloutPolicy.</p>
      ) : (
        <NamedPolicy namespace={namespace} name={name} />
      )}
    </section>
  );
}

function NamedPolicy({ namespace, name }: { namespace: string; name: string }) {
  const { objects, phase, error } = useLiveList<RolloutPolicy>(
    `${jobsPath('rolloutpolicies', namespace)}?fieldSelector=metadata.name%3D${name}`,
  );
  const [policy] = objects;
  const link = (
    <Link href={`/resources/fleet.everynode.dev/v1/rolloutpolicies/${namespace}/${name}`}>{name}</Link>
  );
  if (phase === 'refused')
    return (
      <p role="alert">
        You are not allowed to read {name}: {error?.message}
      </p>
    );
  if (!policy && phase === 'live')
    return (
      <p role="alert">
        No host starts: there is no RolloutPolicy “{name}” in {namespace}.
      </p>
    );
  if (!policy) return <p role="status">Loading the policy…</p>;
  return (
    <p>
      {link}: {policyText(policy)} <Link href="/calendar">Calendar</Link>
    </p>
  );
}

/** Pure. */
function policyText({ spec }: RolloutPolicy): string {
  if (spec.paused) return 'it is paused, so no host starts.';
  if (spec.frozen) return 'it is frozen, so no host starts.';
  const windows = countText(spec.windows?.length ?? 0, 'window');
  const freezes = countText(spec.freezes?.length ?? 0, 'freeze period');
  return `hosts start within its ${windows}, and not during its ${freezes}. Waves do not apply to jobs.`;
}
