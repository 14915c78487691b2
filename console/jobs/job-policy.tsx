/** The RolloutPolicy that decides when hosts may start a job. */
import { Link } from 'wouter';
import type { DaemonJob } from '../../shared/kube/daemonjobs/daemonjob-types.js';
import type { RolloutPolicy } from '../../shared/kube/rollouts/rollout-policy-types.js';
import { useLiveList } from '../api/live-list.js';
import { RichText } from '../texts/rich-text.js';
import { counted, t } from '../texts/translate.js';
import { jobsPath } from './job-text.js';

export function JobPolicy({ job: { metadata, spec } }: { job: DaemonJob }) {
  const { namespace = '' } = metadata;
  const { rolloutPolicyName: name } = spec;
  if (name === undefined) return <>{t('at any time: no RolloutPolicy applies')}</>;
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
        {t('You are not allowed to read {{name}}:', { name })} {error?.message}
      </p>
    );
  if (!policy && phase === 'live')
    return (
      <p role="alert">
        {t('No host starts: there is no RolloutPolicy “{{name}}” in {{namespace}}.', { name, namespace })}
      </p>
    );
  if (!policy) return <span role="status">{t('Loading the policy…')}</span>;
  return (
    <RichText
      text={
        (policy.spec.waves?.length ?? 0) > 0
          ? '{{when}} of <policy/>, wave by wave, see the <to>Schedule</to>'
          : '{{when}} of <policy/>, see the <to>Schedule</to>'
      }
      values={{ when: policyText(policy) }}
      parts={{ policy: link, to: <Link href="/calendar" /> }}
    />
  );
}

/** When the policy lets hosts start, without its waves. Pure. */
function policyText({ spec }: RolloutPolicy): string {
  if (spec.paused) return t('not before the end of the pause');
  if (spec.frozen) return t('not before the end of the freeze');
  const windows = spec.windows?.length ?? 0;
  const freezes = spec.freezes?.length ?? 0;
  if (windows + freezes === 0) return t('at any time, by the rules');
  if (freezes === 0) return counted('within the {{count}} windows', windows);
  const when = windows === 0 ? t('at any time') : counted('within the {{count}} windows', windows);
  return counted('{{when}}, not during the {{count}} freeze periods', freezes, { when });
}
