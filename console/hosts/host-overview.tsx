/** The first tab of a host: workloads, load of the last hour, and the last Events. */
import { Link } from 'wouter';
import type { HostReadings } from '../../shared/kube/fleet/host-reading-types.js';
import type { Node } from '../../shared/kube/nodes/node-types.js';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import type { Live } from '../api/live-list.js';
import { AvailabilityCard } from '../availability/availability-strip.js';
import controls from '../layout/controls.module.css';
import { EventList } from '../pods/event-list.js';
import { DaemonSetReasons } from './daemonset-reasons.js';
import classes from './host-page.module.css';
import { SmallCharts } from './small-charts.js';

const LAST_EVENTS = 5;

interface HostOverviewProps {
  node: Node;
  pods: Live<Pod>;
  readings: HostReadings | undefined;
  /** Why there are no readings. */
  problem: string | undefined;
}

export function HostOverview({ node, pods, readings, problem }: HostOverviewProps) {
  const { name, resourceVersion = '' } = node.metadata;
  return (
    <>
      <DaemonSetReasons node={name} version={resourceVersion} />
      <SmallCharts path={`/hosts/${name}`} readings={readings} problem={problem} />
      <AvailabilityCard availability={readings?.availability} />
      <div className={classes.columns}>
        <EventList
          about={`involvedObject.kind=Node,involvedObject.name=${name}`}
          max={LAST_EVENTS}
          more={`/hosts/${name}?tab=events`}
        />
        <HostFacts node={node} pods={podsFact(pods)} />
      </div>
    </>
  );
}

/** A user who may not list Pods must not read that there are none. */
export function podsFact({ objects, phase }: Live<Pod>): string {
  if (phase === 'refused') return 'not allowed to list';
  return phase === 'live' || objects.length > 0 ? String(objects.length) : 'loading';
}

function HostFacts({ node, pods }: { node: Node; pods: string }) {
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
      <dl className={classes.facts}>
        {facts.map(([term, value]) => (
          <div key={term}>
            <dt className={controls.dim}>{term}</dt>
            <dd>{value || 'unknown'}</dd>
          </div>
        ))}
        <div>
          <dt className={controls.dim}>Pods</dt>
          <dd>
            <Link href={`/hosts/${node.metadata.name}?tab=workloads`}>{pods}</Link>
          </dd>
        </div>
      </dl>
    </section>
  );
}
