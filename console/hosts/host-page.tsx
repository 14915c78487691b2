/** Page of a host: facts, Pods, conditions, Events and the reasons of each DaemonSet. */
import { Link, useParams } from 'wouter';
import type { Node } from '../../shared/kube/nodes/node-types.js';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import { ACCESS, useAreChecksLoaded } from '../api/access-checks.js';
import { useLiveList } from '../api/live-list.js';
import { HostJobs } from '../jobs/host-jobs.js';
import controls from '../layout/controls.module.css';
import { PageShell } from '../layout/shell/page-shell.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { HostTimes } from '../layout/time/host-times.js';
import { EventList } from '../pods/event-list.js';
import { t } from '../texts/translate.js';
import { HostValueTable } from '../values/host-value-table.js';
import { DaemonSetReasons } from './daemonset-reasons.js';
import { Conditions } from './host-conditions.js';
import { HostHeader } from './host-header.js';
import { HostPods } from './host-pods.js';
import { LinkQuality } from './link-quality.js';
import { LoadCharts } from './load-charts.js';
import { NodeEditor } from './node-editor.js';
import { useHostReadings } from './use-host-readings.js';

/** Permissions on which the layout depends. */
const OFFERED = [ACCESS.changeNodes, ACCESS.evict, ACCESS.deleteNodes, ACCESS.revoke];

export function HostPage() {
  const { name = '' } = useParams();
  const nodes = useLiveList<Node>(`/api/v1/nodes?fieldSelector=metadata.name%3D${name}`);
  const pods = useLiveList<Pod>(`/api/v1/pods?fieldSelector=spec.nodeName%3D${name}`);
  const [node] = nodes.objects;
  const { readings, meters, problem } = useHostReadings(name);
  const isKnown = useAreChecksLoaded(OFFERED);
  return (
    <PageShell title={`${name} – Hosts`}>
      <p>
        <Link href="/hosts">Hosts</Link>
      </p>
      {!(node && isKnown) && <h1>{name}</h1>}
      {(nodes.phase === 'loading' || !isKnown) && <p role="status">{t('Loading…')}</p>}
      {nodes.phase === 'refused' && <p role="alert">You are not allowed to read this host.</p>}
      {nodes.phase === 'live' && !node && <p>This host does not exist. It may have been removed.</p>}
      {node && isKnown && (
        <HostTimes {...(node.metadata.labels ? { labels: node.metadata.labels } : {})}>
          <HostHeader node={node} pods={pods} />
          <DaemonSetReasons node={name} version={node.metadata.resourceVersion ?? ''} />
          <HostPods pods={pods.objects} />
          <HostJobs node={name} version={versionOf(pods.objects)} />
          <HostValueTable node={name} namespace="" version={node.metadata.resourceVersion ?? ''} isCompact />
          <EventList about={`involvedObject.kind=Node,involvedObject.name=${name}`} />
          <Conditions node={node} changes={readings?.changes ?? []} />
          {problem && <p>Load and link are not available: {problem}</p>}
          {!problem && <LoadCharts readings={readings} node={node} pods={pods.objects} />}
          <LinkQuality node={node} readings={readings} meters={meters} />
          <NodeEditor node={node} />
          <Facts node={node} />
          <CopyCommand text={`kubectl describe node ${name}`} />
        </HostTimes>
      )}
    </PageShell>
  );
}

/** Changes when a Pod of the host changes, also when the last one is deleted. */
function versionOf(pods: readonly Pod[]): string {
  return `pods ${pods.map(({ metadata }) => metadata.resourceVersion).join(' ')}`;
}

function Facts({ node }: { node: Node }) {
  const info = node.status?.nodeInfo;
  const address = node.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address;
  const facts = [
    ['Operating system', info?.osImage],
    ['Kernel', info?.kernelVersion],
    ['Engine', info?.containerRuntimeVersion],
    ['Agent', info?.kubeletVersion],
    ['Architecture', info?.architecture],
    ['Address', address],
  ];
  return (
    <section className={controls.card} aria-label="System">
      <h2>System</h2>
      <dl className={controls.row}>
        {facts.map(([term, value]) => (
          <div key={term}>
            <dt className={controls.dim}>{term}</dt>
            <dd>{value || 'unknown'}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
