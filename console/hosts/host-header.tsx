/** Head of a host's page: name, state since when, cause, site, and the actions. */
import { useCallback, useState } from 'react';
import { Link } from 'wouter';
import type { Host } from '../../shared/kube/fleet/host-types.js';
import type { Node } from '../../shared/kube/nodes/node-types.js';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import { type Live, useInterval } from '../api/live-list.js';
import { useApiResource } from '../api/use-api-resource.js';
import controls from '../layout/controls.module.css';
import { hostHealth } from '../layout/status/host-health.js';
import { hostStatus } from '../layout/status/object-status.js';
import { StatusBadge } from '../layout/status/status-badge.js';
import { RelativeTime } from '../layout/time/relative-time.js';
import { HostActions } from './host-actions.js';
import classes from './host-header.module.css';

/** A cut link changes no object at once, so that watches alone would show it late. */
const ASK_AGAIN_MS = 5_000;

interface HostHeaderProps {
  node: Node;
  pods: Live<Pod>;
  /** Time of the last contact since the coordinator's start. */
  lastSeen: string | undefined;
}

export function HostHeader({ node, pods, lastSeen }: HostHeaderProps) {
  const { name } = node.metadata;
  const [ticks, setTicks] = useState(0);
  useInterval(
    ASK_AGAIN_MS,
    useCallback(() => setTicks((count) => (document.hidden ? count : count + 1)), []),
  );
  const changes = [node, ...pods.objects].map(({ metadata }) => metadata.resourceVersion).join(' ');
  const { answer: host } = useApiResource<Host>(
    `/apis/fleet.everynode.dev/v1/hosts/${encodeURIComponent(name)}`,
    `${ticks} ${changes}`,
  );
  return (
    <header className={classes.header}>
      <div className={classes.name}>
        <h1>{name}</h1>
        {host && <State host={host} lastSeen={lastSeen} />}
      </div>
      <div className={classes.actions}>
        <HostActions node={node} pods={pods} />
      </div>
    </header>
  );
}

function State({ host, lastSeen }: { host: Host; lastSeen: string | undefined }) {
  const { metadata, status } = host;
  const health = hostHealth(host);
  const [failing] = status.failing;
  const cause = failing ? `${failing.name}: ${failing.message}` : (status.pressures[0] ?? status.message);
  const site = metadata.labels?.site;
  return (
    <>
      <p className={controls.row} role="status">
        <StatusBadge status={hostStatus(health)}>
          {health === 'offline' && status.since && (
            <>
              {' '}
              since <RelativeTime at={status.since} />
            </>
          )}
        </StatusBadge>
        {status.unschedulable && health !== 'cordoned' && <StatusBadge status={hostStatus('cordoned')} />}
        <span>
          {status.pods.ready} of {status.pods.total} Pods ready
        </span>
        {site && <Link href={`/hosts?filter=${encodeURIComponent(`site=${site}`)}`}>Site {site}</Link>}
        {lastSeen && (
          <span className={controls.dim}>
            last seen <RelativeTime at={lastSeen} />
          </span>
        )}
      </p>
      {health !== 'healthy' && cause && <p>{cause}</p>}
    </>
  );
}
