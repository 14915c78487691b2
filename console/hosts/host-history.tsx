/** The tab Events of a host: the timeline, its conditions, and its Events. */
import type { HostReadings } from '../../shared/kube/fleet/host-reading-types.js';
import type { Node } from '../../shared/kube/nodes/node-types.js';
import type { KubeEvent } from '../../shared/kube/objects/event-types.js';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import type { WatchPhase } from '../api/list-watch.js';
import { useLiveList } from '../api/live-list.js';
import { hostTimeline } from '../timeline/host-timeline.js';
import { Timeline } from '../timeline/timeline-list.js';
import { useWrites } from '../timeline/use-writes.js';
import { Conditions } from './host-conditions.js';

interface HostHistoryProps {
  node: Node;
  pods: readonly Pod[];
  podsPhase: WatchPhase;
  readings: HostReadings | undefined;
}

export function HostHistory({ node, pods, podsPhase, readings }: HostHistoryProps) {
  const { name } = node.metadata;
  const about = `involvedObject.kind=Node,involvedObject.name=${name}`;
  const { objects: events } = useLiveList<KubeEvent>(
    `/api/v1/events?fieldSelector=${encodeURIComponent(about)}`,
  );
  const writes = useWrites({ resource: 'nodes', name });
  const changes = readings?.changes ?? [];
  return (
    <>
      <Timeline
        entries={hostTimeline({ node, pods, changes, events, activity: writes.events })}
        reach={[
          ['Events', 'the last hour'],
          ['Link and conditions', 'since the start of the coordinator, and the last change before it'],
          ['Pods', podsReach(podsPhase)],
          ['Activity', writes.reach],
        ]}
      />
      <Conditions node={node} changes={changes} />
    </>
  );
}

function podsReach(phase: WatchPhase): string {
  if (phase === 'refused') return 'you are not allowed to list Pods';
  return phase === 'loading' ? 'loading' : 'those that exist now';
}
