/** Page of a rollout: waves, failures and possible actions. */
import { Link, useParams } from 'wouter';
import type { ControllerRevision } from '../../shared/kube/daemonsets/daemonset-types.js';
import type { RolloutPolicy } from '../../shared/kube/rollouts/rollout-policy-types.js';
import {
  PAST_ROLLOUT_LABEL,
  type Rollout,
  type RolloutStatus,
  requestsOfRevision,
} from '../../shared/kube/rollouts/rollout-types.js';
import { useLiveList } from '../api/live-list.js';
import controls from '../layout/controls.module.css';
import { PageShell } from '../layout/shell/page-shell.js';
import { rolloutStatus } from '../layout/status/object-status.js';
import { StatusBadge } from '../layout/status/status-badge.js';
import table from '../layout/table.module.css';
import { CopyCommand } from '../layout/text/copy-command.js';
import { RelativeTime } from '../layout/time/relative-time.js';
import { t } from '../texts/translate.js';
import { FailedHostLogs } from './failed-host-logs.js';
import { HostsByCode } from './hosts-by-code.js';
import { NextWindows } from './next-windows.js';
import { PastRollouts } from './past-rollouts.js';
import { actionsOfRollout, policiesPath } from './rollout-actions.js';
import { RolloutButtons } from './rollout-buttons.js';
import { rolloutVersions } from './rollout-versions.js';
import { SoakCountdown } from './soak-countdown.js';
import { WaveBar } from './wave-bar.js';

export function RolloutPage() {
  const { namespace = '', name = '' } = useParams();
  const path = `/apis/fleet.everynode.dev/v1/namespaces/${namespace}/rollouts?fieldSelector=metadata.name%3D${name}`;
  const { objects, phase, error } = useLiveList<Rollout>(path);
  const [rollout] = objects;
  return (
    <PageShell title={`${name} – Rollouts`}>
      <p>
        <Link href="/rollouts">Rollouts</Link> / {namespace}
      </p>
      <h1>{name}</h1>
      {phase === 'loading' && <p role="status">{t('Loading…')}</p>}
      {phase === 'refused' && <p role="alert">{error?.message}</p>}
      {phase === 'live' && !rollout && <p>There is no rollout of this DaemonSet.</p>}
      {rollout && !rollout.status && <p>The controller has not processed it yet.</p>}
      {rollout?.status && <RolloutDetails rollout={rollout} status={rollout.status} />}
    </PageShell>
  );
}

function RolloutDetails({ rollout, status }: { rollout: Rollout; status: RolloutStatus }) {
  const { namespace = '', name, labels } = rollout.metadata;
  const past = labels?.[PAST_ROLLOUT_LABEL];
  const { objects } = useLiveList<RolloutPolicy>(
    `${policiesPath(namespace)}?fieldSelector=metadata.name%3D${status.policy}`,
  );
  const [policy] = objects;
  const { objects: revisions } = useLiveList<ControllerRevision>(
    `/apis/apps/v1/namespaces/${namespace}/controllerrevisions`,
  );
  const version = rolloutVersions(rollout, revisions);
  return (
    <>
      {past && (
        <p>
          This rollout is over: <Link href={`/rollouts/${namespace}/${past}`}>current rollout of {past}</Link>
        </p>
      )}
      <section className={controls.card} aria-label="State" data-phase={status.phase}>
        <h2>
          <StatusBadge status={rolloutStatus(status.phase)} />
        </h2>
        {version && <p>{version}</p>}
        <p role="status">{status.message}</p>
        <p className={controls.dim}>
          Revision {status.revision} by policy {status.policy}, started <RelativeTime at={status.startTime} />
          {status.estimatedEndTime && !status.completionTime && (
            <>
              , {Date.parse(status.estimatedEndTime) < Date.now() ? 'was ' : ''} expected to end{' '}
              <RelativeTime at={status.estimatedEndTime} />
            </>
          )}
          {status.nextWindowTime && (
            <>
              , next window <RelativeTime at={status.nextWindowTime} />
            </>
          )}
        </p>
        {!past && <RolloutButtons rollout={rollout} actions={actionsOfRollout(status)} isAddressed />}
        <p>
          <Link href={`/daemonsets/${namespace}/${past ?? name}`}>View DaemonSet and older versions</Link>
        </p>
      </section>
      <section className={controls.card} aria-label="Waves">
        <h2>Waves</h2>
        <div className={table.frame}>
          <table className={table.table}>
            <tbody>
              {status.waves.map((wave) => (
                <tr key={wave.name} aria-current={wave.name === status.wave ? 'step' : undefined}>
                  <th scope="row">
                    {wave.name}
                    {wave.name === status.wave && ' (open)'}
                  </th>
                  <td>
                    <WaveBar counts={wave} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        {!past && status.phase === 'Soaking' && <SoakCountdown status={status} policy={policy} />}
      </section>
      <FailedHostLogs
        namespace={namespace}
        daemonSet={past ?? name}
        revision={status.revision}
        failures={status.failures ?? []}
      />
      {!past && <HostsByCode rollout={rollout} codes={status.codes ?? {}} />}
      {!past && !status.completionTime && (
        <NextWindows
          namespace={namespace}
          policy={status.policy}
          version={`${policy?.metadata.resourceVersion} ${status.wave} ${status.phase}`}
        />
      )}
      <Requests status={status} />
      {!past && <PastRollouts namespace={namespace} name={name} revisions={revisions} />}
      <CopyCommand text={`kubectl -n ${namespace} describe rollout ${name}`} />
    </>
  );
}

function Requests({ status }: { status: RolloutStatus }) {
  const requests = requestsOfRevision(status).reverse();
  if (requests.length === 0) return null;
  return (
    <section className={controls.card} aria-label="Activity">
      <h2>Activity</h2>
      <ul>
        {requests.map(({ id, verb, targets, user, reason, time }) => (
          <li key={id}>
            <RelativeTime at={time} /> {user}: {verb} {targets?.join(', ')} {reason && `“${reason}”`}
          </li>
        ))}
      </ul>
    </section>
  );
}
