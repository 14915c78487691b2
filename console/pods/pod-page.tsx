/** One Pod: its containers, why they restarted, its events, and its log as it is written. */
import { useState } from 'react';
import { Link, useParams } from 'wouter';
import type { ContainerStatus, Pod } from '../../shared/kube/pod.js';
import { useLiveList } from '../api/live-list.js';
import { Command } from '../layout/command.js';
import controls from '../layout/controls.module.css';
import { Shell } from '../layout/shell.js';
import table from '../layout/table.module.css';
import { TimeText } from '../layout/time-text.js';
import { EventList } from './event-list.js';
import { PodLog } from './pod-log.js';
import { podWord } from './pod-word.js';

export function PodPage() {
  const { namespace = '', name = '' } = useParams();
  const { objects, phase, error } = useLiveList<Pod>(
    `/api/v1/namespaces/${namespace}/pods?fieldSelector=metadata.name%3D${name}`,
  );
  const [pod] = objects;
  return (
    <Shell phase={phase}>
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
      {phase === 'loading' && <p role="status">Loading…</p>}
      {phase === 'refused' && <p role="alert">You may not see this Pod: {error?.message}</p>}
      {phase === 'live' && !pod && <p>There is no such Pod any more. Its DaemonSet may have made another.</p>}
      {pod && <Details pod={pod} />}
    </Shell>
  );
}

function Details({ pod }: { pod: Pod }) {
  const { namespace = '', name } = pod.metadata;
  const containers = [...(pod.spec.initContainers ?? []), ...pod.spec.containers].map(
    (container) => container.name,
  );
  const [container, setContainer] = useState(pod.spec.containers[0]?.name ?? '');
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  return (
    <>
      <section className={`${controls.card} ${table.frame}`} aria-label="Containers">
        <h2>{podWord(pod)}</h2>
        <table className={table.table}>
          <tbody>
            {statuses.map((status) => (
              <Container key={status.name} status={status} />
            ))}
          </tbody>
        </table>
      </section>
      <section className={controls.card} aria-label="Log">
        <label>
          Log of{' '}
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
        <PodLog key={container} namespace={namespace} pod={name} container={container} />
        <Command text={`kubectl -n ${namespace} logs -f ${name} -c ${container}`} />
      </section>
      <EventList namespace={namespace} about={`involvedObject.name=${name}`} />
    </>
  );
}

function Container({ status }: { status: ContainerStatus }) {
  const { state, lastState, restartCount } = status;
  const last = lastState?.terminated;
  return (
    <tr>
      <th scope="row">{status.name}</th>
      <td>{status.image}</td>
      <td>
        {state?.running && 'running'}
        {state?.waiting && `${state.waiting.reason}: ${state.waiting.message ?? ''}`}
        {state?.terminated && `ended with ${state.terminated.exitCode}`}
      </td>
      <td>
        {restartCount > 0 && `${restartCount} restarts`}
        {last && (
          <>
            , last ended with exit code {last.exitCode} ({last.reason}){' '}
            {last.finishedAt && <TimeText at={last.finishedAt} />}
          </>
        )}
      </td>
    </tr>
  );
}
