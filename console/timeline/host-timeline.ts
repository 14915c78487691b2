/** What happened to a host: link, conditions, containers, Events and writes of users. Pure. */
import type { AuditEvent } from '../../shared/kube/access/audit-types.js';
import type { ConditionChange } from '../../shared/kube/fleet/host-reading-types.js';
import type { Node } from '../../shared/kube/nodes/node-types.js';
import type { KubeEvent } from '../../shared/kube/objects/event-types.js';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import type { StatusTone } from '../layout/status/object-status.js';
import { shortImage } from '../layout/text/image-text.js';
import { activityEntry, eventEntry, mergeTimeline, type TimelineEntry } from './timeline-entry.js';

interface HostHistory {
  node: Node;
  pods: readonly Pod[];
  /** Condition changes since the coordinator's start. */
  changes: readonly ConditionChange[];
  events: readonly KubeEvent[];
  /** Writes to the Node. Empty if the user may not read them. */
  activity: readonly AuditEvent[];
}

export function hostTimeline({ node, pods, changes, events, activity }: HostHistory): TimelineEntry[] {
  return mergeTimeline([
    activity.map(activityEntry).reverse(),
    changes.map(changeEntry).reverse(),
    olderConditions(node, changes),
    pods.flatMap(podEntries),
    events.map((event) => eventEntry(event)),
    [
      {
        ...{ at: node.metadata.creationTimestamp ?? '', kind: 'link', tone: 'ok' },
        text: 'The host joined.',
      },
    ],
  ]);
}

function changeEntry({ time, type, status, reason, message }: ConditionChange): TimelineEntry {
  return conditionEntry(time, type, status, [reason, message].filter(Boolean).join(': '));
}

/** The last change of each condition that has not changed since the coordinator's start. */
function olderConditions({ status }: Node, changes: readonly ConditionChange[]): TimelineEntry[] {
  const known = new Set(changes.map(({ type }) => type));
  return (status?.conditions ?? [])
    .filter(({ type, lastTransitionTime }) => lastTransitionTime && !known.has(type))
    .map(({ type, status: is, reason = '', message = '', lastTransitionTime }) =>
      conditionEntry(lastTransitionTime ?? '', type, is, [reason, message].filter(Boolean).join(': ')),
    );
}

function conditionEntry(at: string, type: string, status: string, because: string): TimelineEntry {
  const isGood = (status === 'True') === (type === 'Ready' || type === 'Connected');
  if (type === 'Connected') {
    const text = isGood ? 'The link returned.' : `The link was lost${because ? `: ${because}` : '.'}`;
    return { at, kind: 'link', tone: isGood ? 'ok' : 'offline', text };
  }
  const tone: StatusTone = status === 'Unknown' ? 'offline' : isGood ? 'ok' : 'failed';
  return { at, kind: 'condition', tone, text: `${type} became ${status}${because && ` (${because})`}` };
}

function podEntries({ metadata, spec, status }: Pod): TimelineEntry[] {
  const { namespace = '', name, creationTimestamp = '' } = metadata;
  const link = { href: `/pods/${namespace}/${name}`, name };
  const entry = (at: string | null | undefined, tone: StatusTone, text: string): TimelineEntry[] =>
    at ? [{ at, kind: 'pod', tone, text, link }] : [];
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const images = new Map(spec.containers.map((each) => [each.name, each.image ?? '']));
  return [
    // A restart follows the exit of the same second.
    ...containers.flatMap(({ name: container, state }) =>
      entry(
        state?.running?.startedAt,
        'ok',
        `Container ${container} started${images.get(container) ? ` with ${shortImage(images.get(container) ?? '')}` : ''}.`,
      ),
    ),
    ...containers.flatMap(({ name: container, state, lastState }) =>
      [state?.terminated, lastState?.terminated].flatMap((ended) =>
        entry(
          ended?.finishedAt,
          ended?.exitCode === 0 ? 'over' : 'failed',
          `Container ${container} exited with code ${ended?.exitCode}${ended?.reason ? ` (${ended.reason})` : ''}.`,
        ),
      ),
    ),
    ...entry(creationTimestamp, 'progress', 'The Pod was created.'),
  ];
}
