/** Page of a DaemonSet: its image and state, and tabs for hosts and revisions, manifest, and Events. */
import { useState } from 'react';
import { Link, useParams } from 'wouter';
import type { DaemonSet } from '../../shared/kube/daemonsets/daemonset-types.js';
import { useIsAllowed } from '../api/access-checks.js';
import { useLiveList } from '../api/live-list.js';
import controls from '../layout/controls.module.css';
import { PageTabs, usePageTab } from '../layout/page-tabs.js';
import { Page } from '../layout/shell/page.js';
import { daemonSetStatus } from '../layout/status/object-status.js';
import { StatusBadge } from '../layout/status/status-badge.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { ScrolledText } from '../layout/text/scrolled-text.js';
import { useUrlQuery } from '../layout/use-url-query.js';
import { EventList } from '../pods/event-list.js';
import { t } from '../texts/translate.js';
import { DaemonSetOverrides } from './daemonset-overrides.js';
import classes from './daemonset-page.module.css';
import { DaemonSetPlacement } from './daemonset-placement.js';
import { DaemonSetValues } from './daemonset-values.js';
import { ChangeImage } from './image/change-image.js';
import { ManifestEditor } from './manifest-editor.js';
import { manifestText } from './manifest-text.js';
import { Revisions } from './revisions/revision-list.js';

export function DaemonSetPage() {
  const { namespace = '', name = '' } = useParams();
  const { objects, phase, error } = useLiveList<DaemonSet>(
    `/apis/apps/v1/namespaces/${namespace}/daemonsets?fieldSelector=metadata.name%3D${name}`,
  );
  const [daemonSet] = objects;
  return (
    <Page title={`${name} – DaemonSets`}>
      <p>
        <Link href="/daemonsets">DaemonSets</Link> / {namespace}
      </p>
      <h1>{name}</h1>
      {phase === 'loading' && <p role="status">{t('Loading…')}</p>}
      {phase === 'refused' && <p role="alert">{error?.message}</p>}
      {phase === 'live' && !daemonSet && <p>This DaemonSet does not exist.</p>}
      {daemonSet && <DaemonSetDetails daemonSet={daemonSet} />}
    </Page>
  );
}

const TABS = [
  { id: 'overview', name: 'Overview' },
  { id: 'manifest', name: 'Manifest' },
  { id: 'events', name: 'Events' },
] as const;

function DaemonSetDetails({ daemonSet }: { daemonSet: DaemonSet }) {
  const { namespace = '', name } = daemonSet.metadata;
  const [query, setQuery] = useUrlQuery();
  const chosen = usePageTab<(typeof TABS)[number]['id']>(TABS);
  const tab = query.get('edit') === 'manifest' ? 'manifest' : chosen;
  const [isSaved, setSaved] = useState(false);
  const leave = (saved: boolean) => {
    setSaved(saved);
    setQuery('edit', '');
  };
  return (
    <>
      <DaemonSetHead daemonSet={daemonSet} />
      {isSaved && <p role="status">Saved. The hosts are being updated.</p>}
      {query.get('edit') === 'image' && <ChangeImage daemonSet={daemonSet} onDone={leave} />}
      <PageTabs
        label={`Parts of DaemonSet ${name}`}
        path={`/daemonsets/${namespace}/${name}`}
        tabs={TABS}
        current={tab}
      />
      {tab === 'overview' && (
        <>
          <DaemonSetPlacement daemonSet={daemonSet} />
          <Revisions daemonSet={daemonSet} />
          <DaemonSetValues daemonSet={daemonSet} />
          <DaemonSetOverrides namespace={namespace} name={name} />
        </>
      )}
      {tab === 'manifest' && <Manifest daemonSet={daemonSet} onDone={leave} />}
      {tab === 'events' && (
        <EventList
          namespace={namespace}
          about={`involvedObject.kind=DaemonSet,involvedObject.name=${name}`}
          folds="SuccessfulCreate"
        />
      )}
      <CopyCommand text={`kubectl -n ${namespace} describe daemonset ${name}`} />
    </>
  );
}

function DaemonSetHead({ daemonSet }: { daemonSet: DaemonSet }) {
  const { namespace = '' } = daemonSet.metadata;
  const [query, setQuery] = useUrlQuery();
  const mayEdit = useIsAllowed({ verb: 'update', group: 'apps', resource: 'daemonsets', namespace });
  const { desiredNumberScheduled: desired = 0, numberAvailable: available = 0 } = daemonSet.status ?? {};
  return (
    <div className={classes.head}>
      <p className={controls.row}>
        <StatusBadge status={daemonSetStatus(daemonSet)} />
        <span>
          {available} of {desired} hosts available
        </span>
      </p>
      <AvailabilityBar desired={desired} available={available} />
      {daemonSet.spec.template.spec.containers.map(({ name, image = 'no image' }) => (
        <p key={name} className={classes.image}>
          <span className={controls.dim}>Image of {name}</span> <code>{image}</code>
        </p>
      ))}
      {mayEdit && !query.has('edit') && (
        <div className={controls.row}>
          <button
            type="button"
            className={controls.button}
            data-main
            onClick={() => setQuery('edit', 'image')}
          >
            Change image
          </button>
        </div>
      )}
    </div>
  );
}

function AvailabilityBar({ desired, available }: { desired: number; available: number }) {
  const shown = Math.min(available, desired);
  return (
    <svg
      className={classes.bar}
      viewBox={`0 0 ${Math.max(desired, 1)} 1`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <rect data-part="available" width={shown} height="1" />
      <rect data-part="missing" x={shown} width={desired - shown} height="1" />
    </svg>
  );
}

interface ManifestProps {
  daemonSet: DaemonSet;
  onDone: (isSaved: boolean) => void;
}

/** The URL contains whether the manifest is being edited. */
function Manifest({ daemonSet, onDone }: ManifestProps) {
  const [query, setQuery] = useUrlQuery();
  const { namespace = '', name } = daemonSet.metadata;
  const mayEdit = useIsAllowed({ verb: 'update', group: 'apps', resource: 'daemonsets', namespace });
  return (
    <section className={controls.card} aria-label="Manifest">
      <h2>Manifest</h2>
      {query.get('edit') === 'manifest' ? (
        <ManifestEditor
          base={daemonSet}
          firstText={manifestText(daemonSet)}
          onDone={(written) => onDone(written !== undefined)}
        />
      ) : (
        <>
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
