/** Which versions of a DaemonSet run where, and on which hosts it runs or does not, in words. */
import { Link } from 'wouter';
import type { DaemonSet } from '../../shared/kube/daemonsets/daemonset-types.js';
import { countText } from '../../shared/kube/objects/meta.js';
import { useApiResource } from '../api/use-api-resource.js';
import controls from '../layout/controls.module.css';
import { LabelledTable } from '../layout/list-table.js';
import { codeWords } from '../layout/status/reason-status.js';
import { shortImage } from '../layout/text/image-text.js';
import { translated } from '../texts/translate.js';
import classes from './daemonset-page.module.css';
import { type HostsByReason, hostsPath, placementGroups } from './placement-groups.js';

interface RunningVersion {
  revision: string;
  images: readonly string[];
  count: number;
  nodes: readonly string[];
}

interface Reasons {
  sentence: string;
  reasons: readonly HostsByReason[];
  versions: readonly RunningVersion[];
}

const VERSION_COLUMNS = ['Version', 'Hosts', 'Share'] as const;

export function DaemonSetPlacement({ daemonSet }: { daemonSet: DaemonSet }) {
  const { namespace = '', name, resourceVersion } = daemonSet.metadata;
  const { answer, problem } = useApiResource<Reasons>(
    `/apis/fleet.everynode.dev/v1/namespaces/${namespace}/daemonsets/${name}/why`,
    resourceVersion ?? '',
  );
  return (
    <>
      {answer && answer.versions.length > 0 && <Versions versions={answer.versions} />}
      <section className={controls.card} aria-label="Where it runs">
        <h2>Where it runs and why</h2>
        {!answer && <p role="status">{problem ?? 'Loading…'}</p>}
        {answer?.reasons.length === 0 && <p role="status">{answer.sentence}</p>}
        {answer && <Placement reasons={answer.reasons} />}
        <details>
          <summary>Counts as in kubectl get daemonset</summary>
          <Counts status={daemonSet.status} />
        </details>
      </section>
    </>
  );
}

function Versions({ versions }: { versions: readonly RunningVersion[] }) {
  const total = versions.reduce((sum, { count }) => sum + count, 0);
  return (
    <section className={controls.card} aria-label="Versions in use">
      <h2>Versions in use</h2>
      <LabelledTable columns={VERSION_COLUMNS}>
        {versions.map(({ revision, images, count, nodes }) => (
          <tr key={revision}>
            <th scope="row">{images.map(shortImage).join(', ')}</th>
            <td>
              <HostNames title={countText(count, 'host')} nodes={nodes} />
            </td>
            <td>
              <span className={classes.share}>
                <progress
                  max={total}
                  value={count}
                  aria-label={`Share of ${images.map(shortImage).join(', ')}`}
                />
                {Math.round((count / total) * 100)} %
              </span>
            </td>
          </tr>
        ))}
      </LabelledTable>
    </section>
  );
}

function Placement({ reasons }: { reasons: readonly HostsByReason[] }) {
  return (
    <dl className={classes.placement}>
      {placementGroups(reasons).map(({ name, count, reasons: own }) => (
        <div key={name}>
          <dt>
            <strong>{count}</strong> {name}
          </dt>
          {own.map(({ code, count: hosts, nodes }) => (
            <dd key={code}>
              <HostNames title={`${hosts} ${translated(codeWords(code))}`} nodes={nodes} />
            </dd>
          ))}
        </div>
      ))}
    </dl>
  );
}

const MAX_NAMES = 200;

function HostNames({ title, nodes }: { title: string; nodes: readonly string[] }) {
  const path = hostsPath(nodes);
  return (
    <details>
      <summary>{title}</summary>
      {path && (
        <p>
          <Link href={path}>Show in Hosts</Link>
        </p>
      )}
      <ul className={classes.hosts}>
        {nodes.slice(0, MAX_NAMES).map((node) => (
          <li key={node}>
            <Link href={`/hosts/${node}`}>{node}</Link>
          </li>
        ))}
        {nodes.length > MAX_NAMES && <li>and {nodes.length - MAX_NAMES} more</li>}
      </ul>
    </details>
  );
}

/** Columns of `kubectl get daemonset`. */
const COUNTS = [
  ['Desired', 'desiredNumberScheduled'],
  ['Current', 'currentNumberScheduled'],
  ['Ready', 'numberReady'],
  ['Up to date', 'updatedNumberScheduled'],
  ['Available', 'numberAvailable'],
  ['On other hosts', 'numberMisscheduled'],
] as const;

function Counts({ status }: Pick<DaemonSet, 'status'>) {
  return (
    <dl className={controls.row}>
      {COUNTS.map(([name, field]) => (
        <div key={field}>
          <dt className={controls.dim}>{translated(name)}</dt>
          <dd>{status?.[field] ?? 0}</dd>
        </div>
      ))}
    </dl>
  );
}
