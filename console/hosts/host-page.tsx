/** Page of a host: a header that stays, and tabs. The URL contains the tab. */
import { Link, useParams } from 'wouter';
import type { Node } from '../../shared/kube/nodes/node-types.js';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import { ACCESS, useAreChecksLoaded } from '../api/access-checks.js';
import { type Live, useLiveList } from '../api/live-list.js';
import { HostJobs } from '../jobs/host-jobs.js';
import { PageTabs, usePageTab } from '../layout/page-tabs.js';
import { Page } from '../layout/shell/page.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { HostTimes } from '../layout/time/host-times.js';
import { t } from '../texts/translate.js';
import { HostValueTable } from '../values/host-value-table.js';
import { DaemonSetReasons } from './daemonset-reasons.js';
import { HostHeader } from './host-header.js';
import { HostHistory } from './host-history.js';
import { HostLogs } from './host-logs.js';
import { HostOverview } from './host-overview.js';
import classes from './host-page.module.css';
import { HostPods } from './host-pods.js';
import { LinkQuality } from './link-quality.js';
import { LoadCharts } from './load-charts.js';
import { NodeEditor } from './node-editor.js';
import { useHostReadings } from './use-host-readings.js';

/** Permissions on which the layout depends. */
const OFFERED = [ACCESS.changeNodes, ACCESS.evict, ACCESS.deleteNodes, ACCESS.revoke];

const TABS = [
  { id: 'overview', name: 'Overview' },
  { id: 'workloads', name: 'Workloads' },
  { id: 'logs', name: 'Logs & shell' },
  { id: 'metrics', name: 'Metrics' },
  { id: 'events', name: 'Events' },
  { id: 'settings', name: 'Settings' },
] as const;

type Tab = (typeof TABS)[number]['id'];

export function HostPage() {
  const { name = '' } = useParams();
  const nodes = useLiveList<Node>(`/api/v1/nodes?fieldSelector=metadata.name%3D${name}`);
  const pods = useLiveList<Pod>(`/api/v1/pods?fieldSelector=spec.nodeName%3D${name}`);
  const [node] = nodes.objects;
  const isKnown = useAreChecksLoaded(OFFERED);
  return (
    <Page title={`${name} – Hosts`}>
      <p>
        <Link href="/hosts">Hosts</Link>
      </p>
      {!(node && isKnown) && <h1>{name}</h1>}
      {(nodes.phase === 'loading' || !isKnown) && <p role="status">{t('Loading…')}</p>}
      {nodes.phase === 'refused' && <p role="alert">You are not allowed to read this host.</p>}
      {nodes.phase === 'live' && !node && <p>This host does not exist. It may have been removed.</p>}
      {node && isKnown && (
        <HostTimes {...(node.metadata.labels ? { labels: node.metadata.labels } : {})}>
          <HostDetails node={node} pods={pods} />
        </HostTimes>
      )}
    </Page>
  );
}

function HostDetails({ node, pods }: { node: Node; pods: Live<Pod> }) {
  const { name } = node.metadata;
  const tab = usePageTab<Tab>(TABS);
  const shown = useHostReadings(name);
  return (
    <>
      <div className={classes.head}>
        <HostHeader node={node} pods={pods} lastSeen={shown.readings?.lastContactTime} />
        <PageTabs label={`Parts of host ${name}`} path={`/hosts/${name}`} tabs={TABS} current={tab} />
      </div>
      <TabContent tab={tab} node={node} pods={pods} {...shown} />
      <CopyCommand text={`kubectl describe node ${name}`} />
    </>
  );
}

type TabContentProps = ReturnType<typeof useHostReadings> & {
  tab: Tab;
  node: Node;
  pods: Live<Pod>;
};

function TabContent({ tab, node, pods, readings, meters, problem }: TabContentProps) {
  const { name, resourceVersion = '' } = node.metadata;
  switch (tab) {
    case 'overview':
      return <HostOverview {...{ node, pods, readings, problem }} />;
    case 'workloads':
      return (
        <>
          <DaemonSetReasons node={name} version={resourceVersion} />
          <HostPods pods={pods} />
          <HostJobs node={name} version={versionOf(pods.objects)} />
        </>
      );
    case 'logs':
      return <HostLogs pods={pods} />;
    case 'metrics':
      return (
        <>
          {problem && <p>Load and link are not available: {problem}</p>}
          {!problem && <LoadCharts readings={readings} node={node} pods={pods.objects} />}
          <LinkQuality node={node} readings={readings} meters={meters} />
        </>
      );
    case 'events':
      return <HostHistory node={node} pods={pods.objects} podsPhase={pods.phase} readings={readings} />;
    case 'settings':
      return (
        <>
          <NodeEditor node={node} />
          <HostValueTable node={name} namespace="" version={resourceVersion} isCompact />
        </>
      );
  }
}

/** Changes when a Pod of the host changes, also when the last one is deleted. */
function versionOf(pods: readonly Pod[]): string {
  return `pods ${pods.map(({ metadata }) => metadata.resourceVersion).join(' ')}`;
}
