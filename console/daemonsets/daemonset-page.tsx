/** Page of a DaemonSet: its hosts and reasons, manifest and revisions. */
import { useState } from 'react';
import { Link, useParams } from 'wouter';
import type { DaemonSet } from '../../shared/kube/daemonsets/daemonset-types.js';
import { useIsAllowed } from '../api/access-checks.js';
import { useLiveList } from '../api/live-list.js';
import { useApiResource } from '../api/use-api-resource.js';
import controls from '../layout/controls.module.css';
import { PageShell } from '../layout/shell/page-shell.js';
import { daemonSetStatus } from '../layout/status/object-status.js';
import { codeWords } from '../layout/status/reason-status.js';
import { StatusBadge } from '../layout/status/status-badge.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { imagesText, shortImage } from '../layout/text/image-text.js';
import { ScrolledText } from '../layout/text/scrolled-text.js';
import { useUrlQuery } from '../layout/use-url-query.js';
import { EventList } from '../pods/event-list.js';
import { t } from '../texts/translate.js';
import { DaemonSetOverrides } from './daemonset-overrides.js';
import classes from './daemonset-page.module.css';
import { DaemonSetValues } from './daemonset-values.js';
import { ManifestEditor } from './manifest-editor.js';
import { manifestText } from './manifest-text.js';
import { Revisions } from './revision-list.js';

interface Reasons {
  sentence: string;
  reasons: readonly { code: string; count: number; nodes: readonly string[] }[];
  versions: readonly {
    revision: string;
    images: readonly string[];
    count: number;
    nodes: readonly string[];
  }[];
}

export function DaemonSetPage() {
  const { namespace = '', name = '' } = useParams();
  const { objects, phase, error } = useLiveList<DaemonSet>(
    `/apis/apps/v1/namespaces/${namespace}/daemonsets?fieldSelector=metadata.name%3D${name}`,
  );
  const [daemonSet] = objects;
  return (
    <PageShell title={`${name} – DaemonSets`}>
      <p>
        <Link href="/daemonsets">DaemonSets</Link> / {namespace}
      </p>
      <h1>{name}</h1>
      {phase === 'loading' && <p role="status">{t('Loading…')}</p>}
      {phase === 'refused' && <p role="alert">{error?.message}</p>}
      {phase === 'live' && !daemonSet && <p>This DaemonSet does not exist.</p>}
      {daemonSet && (
        <>
          <p>
            <StatusBadge status={daemonSetStatus(daemonSet)} />{' '}
            {imagesText(daemonSet.spec.template.spec.containers)}
          </p>
          <Where daemonSet={daemonSet} />
          <DaemonSetValues daemonSet={daemonSet} />
          <DaemonSetOverrides namespace={namespace} name={name} />
          <Revisions daemonSet={daemonSet} />
          <Manifest daemonSet={daemonSet} />
          <EventList
            namespace={namespace}
            about={`involvedObject.kind=DaemonSet,involvedObject.name=${name}`}
          />
          <CopyCommand text={`kubectl -n ${namespace} describe daemonset ${name}`} />
        </>
      )}
    </PageShell>
  );
}

function Where({ daemonSet }: { daemonSet: DaemonSet }) {
  const { namespace = '', name, resourceVersion } = daemonSet.metadata;
  const { answer, problem } = useApiResource<Reasons>(
    `/apis/fleet.everynode.dev/v1/namespaces/${namespace}/daemonsets/${name}/why`,
    resourceVersion ?? '',
  );
  return (
    <section className={controls.card} aria-label="Where it runs">
      <h2>Where it runs and why</h2>
      <Counts status={daemonSet.status} />
      <p role="status">{answer?.sentence ?? problem ?? 'Loading…'}</p>
      {answer?.reasons.map(({ code, count, nodes }) => (
        <HostNames key={code} title={codeWords(code)} count={count} nodes={nodes} />
      ))}
      {answer && answer.versions.length > 0 && <h3>Versions on hosts</h3>}
      {answer?.versions.map(({ revision, images, count, nodes }) => (
        <HostNames key={revision} title={images.map(shortImage).join(', ')} count={count} nodes={nodes} />
      ))}
    </section>
  );
}

function HostNames({ title, count, nodes }: { title: string; count: number; nodes: readonly string[] }) {
  return (
    <details>
      <summary>
        <strong>{count}</strong> {title}
      </summary>
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
  ['Misscheduled', 'numberMisscheduled'],
] as const;

function Counts({ status }: Pick<DaemonSet, 'status'>) {
  return (
    <dl className={controls.row}>
      {COUNTS.map(([name, field]) => (
        <div key={field}>
          <dt className={controls.dim}>{name}</dt>
          <dd>{status?.[field] ?? 0}</dd>
        </div>
      ))}
    </dl>
  );
}

const MAX_NAMES = 200;

/** The URL contains whether the manifest is being edited. */
function Manifest({ daemonSet }: { daemonSet: DaemonSet }) {
  const [query, setQuery] = useUrlQuery();
  const [isWritten, setWritten] = useState(false);
  const isEdited = query.has('edit');
  const { namespace = '', name } = daemonSet.metadata;
  const mayEdit = useIsAllowed({ verb: 'update', group: 'apps', resource: 'daemonsets', namespace });
  const leave = (written?: DaemonSet) => {
    setWritten(written !== undefined);
    setQuery('edit', '');
  };
  return (
    <section className={controls.card} aria-label="Manifest">
      <h2>Manifest</h2>
      {isEdited ? (
        <ManifestEditor base={daemonSet} firstText={manifestText(daemonSet)} onDone={leave} />
      ) : (
        <>
          {isWritten && <p role="status">Saved. The hosts are being updated.</p>}
          <ScrolledText label="Manifest as YAML" text={manifestText(daemonSet)} />
          {mayEdit && (
            <button type="button" className={controls.button} onClick={() => setQuery('edit', 'manifest')}>
              {t('Edit manifest')}
            </button>
          )}
          <CopyCommand text={`kubectl -n ${namespace} get daemonset ${name} -o yaml`} />
        </>
      )}
    </section>
  );
}
