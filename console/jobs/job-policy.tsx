/** The RolloutPolicy that decides when hosts may start a job. */
import { Link } from 'wouter';
import type { DaemonJob } from '../../shared/kube/daemonjobs/daemonjob-types.js';
import { countText } from '../../shared/kube/objects/meta.js';
import type { RolloutPolicy } from '../../shared/kube/rollouts/rollout-policy-types.js';
import { useLiveList } from '../api/live-list.js';
import { jobsPath } from './job-text.js';

export function JobPolicy({ job: { metadata, spec } }: { job: DaemonJob }) {
  const { namespace = '' } = metadata;
  const { rolloutPolicyName: name } = spec;
  if (name === undefined) return <>at any time: no RolloutPolicy applies</>;
  return <NamedPolicy namespace={namespace} name={name} />;
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
  if (!policy) return <span role="status">Loading the policy…</span>;
  return (
    <>
      {policyText(policy)} of {link}
      {(policy.spec.waves?.length ?? 0) > 0 && ', wave by wave'}, see the{' '}
      <Link href="/calendar">Schedule</Link>
    </>
  );
}

/** When the policy lets hosts start, without its waves. Pure. */
function policyText({ spec }: RolloutPolicy): string {
  if (spec.paused) return 'not before the end of the pause';
  if (spec.frozen) return 'not before the end of the freeze';
  const windows = spec.windows?.length ?? 0;
  const freezes = spec.freezes?.length ?? 0;
  if (windows + freezes === 0) return 'at any time, by the rules';
  if (freezes === 0) return `within the ${countText(windows, 'window')}`;
  const when = windows === 0 ? 'at any time' : `within the ${countText(windows, 'window')}`;
  return `${when}, not during the ${countText(freezes, 'freeze period')}`;
}
