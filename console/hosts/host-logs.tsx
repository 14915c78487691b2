/** Log and terminal of one Pod of a host. The URL names the Pod. */
import { useRef } from 'react';
import { Link } from 'wouter';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import { useIsAllowed } from '../api/access-checks.js';
import type { Live } from '../api/live-list.js';
import controls from '../layout/controls.module.css';
import { ListState } from '../layout/list-state.js';
import { bySeverity, podStatus } from '../layout/status/object-status.js';
import { useUrlQuery } from '../layout/use-url-query.js';
import { ContainerLog } from '../pods/container-log.js';
import { podKey, shownPod } from '../pods/pod-choice.js';
import { PodTerminal } from '../pods/pod-terminal.js';

export function HostLogs({ pods: { objects, phase, error } }: { pods: Live<Pod> }) {
  const [query, setQuery] = useUrlQuery();
  const shown = useRef<string>(undefined);
  const rows = [...objects].sort(
    (a, b) => bySeverity(podStatus(a), podStatus(b)) || (podKey(a) < podKey(b) ? -1 : 1),
  );
  const pod = shownPod(rows, query.get('pod'), shown.current);
  shown.current = pod && podKey(pod);
  if (!pod)
    return (
      <ListState phase={phase} error={error} what="Pods" isEmpty>
        No Pods on this host, so there are no logs.
      </ListState>
    );
  const containers = [...(pod.spec.initContainers ?? []), ...pod.spec.containers].map(({ name }) => name);
  const container =
    containers.find((each) => each === query.get('container')) ?? pod.spec.containers[0]?.name ?? '';
  return (
    <>
      <div className={controls.row}>
        <Choice
          label="Pod"
          value={podKey(pod)}
          options={rows.map((each) => [podKey(each), `${podKey(each)}: ${podStatus(each).word}`])}
          onChange={(value) => setQuery('pod', value)}
        />
        <Choice
          label="Container"
          value={container}
          options={containers.map((each) => [each, each])}
          onChange={(value) => setQuery('container', value)}
        />
        <Link href={`/pods/${podKey(pod)}`}>Open the Pod</Link>
      </div>
      <LogAndTerminal key={`${pod.metadata.uid} ${container}`} pod={pod} container={container} />
    </>
  );
}

function LogAndTerminal({ pod, container }: { pod: Pod; container: string }) {
  const { namespace = '', name } = pod.metadata;
  const mayRun = useIsAllowed({ verb: 'create', resource: 'pods', subresource: 'exec', namespace });
  const running = (pod.status?.containerStatuses ?? []).flatMap(({ name: each, state }) =>
    state?.running ? [each] : [],
  );
  return (
    <>
      <section className={controls.card} aria-label="Log">
        <h2>Log</h2>
        <ContainerLog namespace={namespace} pod={name} container={container} />
      </section>
      {mayRun && <PodTerminal namespace={namespace} pod={name} containers={running} />}
    </>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  options: readonly (readonly [value: string, text: string])[];
  onChange: (value: string) => void;
}

function Choice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <label>
      {label}{' '}
      <select className={controls.input} value={value} onChange={({ target }) => onChange(target.value)}>
        {options.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
