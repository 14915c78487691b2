/** Page of a rollout: its state and actions, and tabs for hosts, activity and past rollouts. */
import { Link, useParams } from 'wouter';
import type { ControllerRevision } from '../../shared/kube/daemonsets/daemonset-types.js';
import type { KubeEvent } from '../../shared/kube/objects/event-types.js';
import type { RolloutPolicy } from '../../shared/kube/rollouts/rollout-policy-types.js';
import {
  PAST_ROLLOUT_LABEL,
  type Rollout,
  type RolloutStatus,
} from '../../shared/kube/rollouts/rollout-types.js';
import { useLiveList } from '../api/live-list.js';
import { PageTabs, usePageTab } from '../layout/page-tabs.js';
import { Page } from '../layout/shell/page.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { t } from '../texts/translate.js';
import { rolloutTimeline } from '../timeline/rollout-timeline.js';
import { Timeline } from '../timeline/timeline-list.js';
import { useWrites } from '../timeline/use-writes.js';
import { FailedHostLogs } from './failed-host-logs.js';
import { NextWindows } from './next-windows.js';
import { PastRollouts } from './past-rollouts.js';
import { policiesPath } from './rollout-actions.js';
import { RolloutHeader } from './rollout-header.js';
import { RolloutHosts } from './rollout-hosts.js';
import { revisionOf, rolloutVersions } from './rollout-versions.js';
import { WaveStepper } from './wave-stepper.js';

export function RolloutPage() {
  const { namespace = '', name = '' } = useParams();
  const path = `/apis/fleet.everynode.dev/v1/namespaces/${namespace}/rollouts?fieldSelector=metadata.name%3D${name}`;
  const { objects, phase, error } = useLiveList<Rollout>(path);
  const [rollout] = objects;
  return (
    <Page title={`${name} – Rollouts`}>
      <p>
        <Link href="/rollouts">Rollouts</Link> / {namespace}
      </p>
      <h1>{name}</h1>
      {phase === 'loading' && <p role="status">{t('Loading…')}</p>}
      {phase === 'refused' && <p role="alert">{error?.message}</p>}
      {phase === 'live' && !rollout && <p>There is no rollout of this DaemonSet.</p>}
      {rollout && !rollout.status && <p>The controller has not processed it yet.</p>}
      {rollout?.status && <RolloutDetails rollout={rollout} status={rollout.status} />}
    </Page>
  );
}

const TABS = [
  { id: 'overview', name: 'Overview' },
  { id: 'activity', name: 'Activity' },
  { id: 'past', name: 'Past rollouts' },
] as const;

function RolloutDetails({ rollout, status }: { rollout: Rollout; status: RolloutStatus }) {
  const { namespace = '', name, labels } = rollout.metadata;
  const past = labels?.[PAST_ROLLOUT_LABEL];
  const { objects: revisions } = useLiveList<ControllerRevision>(
    `/apis/apps/v1/namespaces/${namespace}/controllerrevisions`,
  );
  // Past rollouts are listed by the current one.
  const tabs = past ? TABS.slice(0, 2) : TABS;
  const tab = usePageTab<(typeof TABS)[number]['id']>(tabs);
  const path = `/rollouts/${namespace}/${name}`;
  return (
    <>
      {past && (
        <p>
          This rollout is over: <Link href={`/rollouts/${namespace}/${past}`}>current rollout of {past}</Link>
        </p>
      )}
      <RolloutHeader rollout={rollout} status={status} version={rolloutVersions(rollout, revisions)} />
      <PageTabs label={`Parts of rollout ${name}`} path={path} tabs={tabs} current={tab} />
      {tab === 'overview' && <RolloutOverview rollout={rollout} status={status} past={past} />}
      {tab === 'activity' && <RolloutActivity {...{ rollout, status, past, revisions }} />}
      {tab === 'past' && <PastRollouts namespace={namespace} name={name} revisions={revisions} />}
      <CopyCommand text={`kubectl -n ${namespace} describe rollout ${name}`} />
    </>
  );
}

interface RolloutOverviewProps {
  rollout: Rollout;
  status: RolloutStatus;
  /** The DaemonSet of a past rollout. */
  past: string | undefined;
}

function RolloutOverview({ rollout, status, past }: RolloutOverviewProps) {
  const { namespace = '', name } = rollout.metadata;
  const { objects } = useLiveList<RolloutPolicy>(
    `${policiesPath(namespace)}?fieldSelector=metadata.name%3D${status.policy}`,
  );
  const [policy] = objects;
  return (
    <>
      <WaveStepper status={status} policy={policy} isPast={past !== undefined} />
      <FailedHostLogs
        namespace={namespace}
        daemonSet={past ?? name}
        revision={status.revision}
        failures={status.failures ?? []}
        failed={status.failed}
      />
      {!past && <RolloutHosts rollout={rollout} codes={status.codes ?? {}} />}
      {!past && !status.completionTime && (
        <NextWindows
          namespace={namespace}
          policy={status.policy}
          version={`${policy?.metadata.resourceVersion} ${status.wave} ${status.phase}`}
        />
      )}
    </>
  );
}

interface RolloutActivityProps {
  rollout: Rollout;
  status: RolloutStatus;
  /** The DaemonSet of a past rollout. */
  past: string | undefined;
  revisions: readonly ControllerRevision[];
}

function RolloutActivity({ rollout, status, past, revisions }: RolloutActivityProps) {
  const { namespace = '', name } = rollout.metadata;
  const about = `involvedObject.kind=Rollout,involvedObject.name=${name}`;
  const { objects: events } = useLiveList<KubeEvent>(
    `/api/v1/namespaces/${namespace}/events?fieldSelector=${encodeURIComponent(about)}`,
  );
  const writes = useWrites({ namespace, name: past ?? name });
  const revisionTime = revisionOf(rollout, revisions)?.metadata.creationTimestamp;
  return (
    <Timeline
      entries={rolloutTimeline({
        ...{ status, events, revisionTime },
        isPast: past !== undefined,
        activity: writes.events,
      })}
      reach={[
        ['Steps', 'Events of the last hour, and the start and the end'],
        ['Requests', 'the last 20'],
        ['Failed hosts', 'the first 10'],
        ['Writes to the DaemonSet', writes.reach],
      ]}
    />
  );
}
