/** Page of a Pod: containers, restarts, Events, log and terminal. */
import { type ReactNode, useState } from 'react';
import { Link, useParams } from 'wouter';
import type { Node } from '../../shared/kube/nodes/node-types.js';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import { useIsAllowed } from '../api/access-checks.js';
import { useLiveList } from '../api/live-list.js';
import controls from '../layout/controls.module.css';
import { Page } from '../layout/shell/page.js';
import { podStatus } from '../layout/status/object-status.js';
import { StatusBadge } from '../layout/status/status-badge.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { HostTimes } from '../layout/time/host-times.js';
import { t } from '../texts/translate.js';
import { ContainerLog } from './container-log.js';
import { ContainerState } from './container-state.js';
import { EventList } from './event-list.js';
import { PodTerminal } from './pod-terminal.js';

export function PodPage() {
  const { namespace = '', name = '' } = useParams();
  const { objects, phase, error } = useLiveList<Pod>(
    `/api/v1/namespaces/${namespace}/pods?fieldSelector=metadata.name%3D${name}`,
  );
  const [pod] = objects;
  return (
    <Page title={`${name} – Pods`}>
      <p>
        {namespace}
        {pod?.spec.nodeName && (
          <>
            {' on '}
            <Link href={`/hosts/${pod.spec.nodeName}`}>{pod.spec.nodeName}</Link>
          </>
        )}
      </p>
      <h1>{name}</h1>
      {phase === 'loading' && <p role="status">{t('Loading…')}</p>}
      {phase === 'refused' && <p role="alert">{error?.message}</p>}
      {phase === 'live' && !pod && <p>{t('This Pod does not exist. Its DaemonSet may have replaced it.')}</p>}
      {pod && (
        <OnItsHost node={pod.spec.nodeName ?? ''}>
          <Details pod={pod} />
        </OnItsHost>
      )}
    </Page>
  );
}

function OnItsHost({ node, children }: { node: string; children: ReactNode }) {
  const { objects } = useLiveList<Node>(`/api/v1/nodes?fieldSelector=metadata.name%3D${node}`);
  const labels = objects[0]?.metadata.labels;
  return <HostTimes {...(labels ? { labels } : {})}>{children}</HostTimes>;
}

function Details({ pod }: { pod: Pod }) {
  const { namespace = '', name } = pod.metadata;
  const containers = [...(pod.spec.initContainers ?? []), ...pod.spec.containers].map(
    (container) => container.name,
  );
  const mayRun = useIsAllowed({ verb: 'create', resource: 'pods', subresource: 'exec', namespace });
  const [container, setContainer] = useState(pod.spec.containers[0]?.name ?? '');
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  const [wantsPrevious, setPrevious] = useState(false);
  const hasPrevious = statuses.some((each) => each.name === container && each.lastState?.terminated);
  const isPrevious = wantsPrevious && hasPrevious;
  const running = statuses.flatMap(({ name: container, state }) => (state?.running ? [container] : []));
  return (
    <>
      <section className={controls.card} aria-label={t('Containers')}>
        <h2>
          <StatusBadge status={podStatus(pod)} />
        </h2>
        {(pod.status?.message ?? '') !== '' && <p>{pod.status?.message}</p>}
        {statuses.length === 0 && <p>{t('The host has not reported the containers yet.')}</p>}
        {statuses.map((status) => (
          <ContainerState
            key={status.name}
            status={status}
            restartPolicy={pod.spec.restartPolicy ?? 'Always'}
          />
        ))}
      </section>
      <section className={controls.card} aria-label={t('Log')}>
        <h2>{t('Log')}</h2>
        <label>
          {t('Of')}{' '}
          <select
            className={controls.input}
            value={container}
            onChange={(event) => setContainer(event.target.value)}
          >
            {containers.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        {hasPrevious && (
          <label>
            <input
              type="checkbox"
              checked={isPrevious}
              onChange={(event) => setPrevious(event.target.checked)}
            />{' '}
            {t('Previous container')}
          </label>
        )}
        <ContainerLog
          key={`${container} ${isPrevious}`}
          namespace={namespace}
          pod={name}
          container={container}
          isPrevious={isPrevious}
        />
        <CopyCommand
          text={`kubectl -n ${namespace} logs ${isPrevious ? '--previous' : '-f'} ${name} -c ${container}`}
        />
      </section>
      {mayRun && <PodTerminal namespace={namespace} pod={name} containers={running} />}
      <EventList namespace={namespace} about={`involvedObject.name=${name}`} />
      <CopyCommand text={`kubectl -n ${namespace} describe pod ${name}`} />
    </>
  );
}
