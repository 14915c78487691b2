/** The causes of the first failures, each with its hosts and the end of a log. */
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { REVISION_HASH_LABEL } from '../../shared/kube/daemonsets/daemonset-types.js';
import { countText } from '../../shared/kube/objects/meta.js';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import type { HostFailure } from '../../shared/kube/rollouts/rollout-types.js';
import { ApiCallError, callApi, requestApi } from '../api/api-call.js';
import controls from '../layout/controls.module.css';
import { CopyCommand } from '../layout/text/copy-command.js';
import { ScrolledText } from '../layout/text/scrolled-text.js';
import { RelativeTime } from '../layout/time/relative-time.js';
import { t } from '../texts/translate.js';
import { type FailureGroup, failureGroups } from './failure-groups.js';
import classes from './rollout-page.module.css';

/** Number of logs that are loaded at once. Others are loaded when they are opened. */
const INITIALLY_OPEN = 2;
const LINES = 20;

interface FailedHostsProps {
  namespace: string;
  daemonSet: string;
  /** Hash of the failed revision. Logs of Pods with another revision are not shown. */
  revision: string;
  /** The first failures. */
  failures: readonly HostFailure[];
  /** Number of all failed hosts. */
  failed: number;
}

export function FailedHostLogs({ failures, failed, ...source }: FailedHostsProps) {
  if (failures.length === 0) return null;
  return (
    <section className={controls.card} aria-label="Failed hosts">
      <h2>Why hosts failed</h2>
      {failed > failures.length && (
        <p>
          Only the first {failures.length} of {failed} failed hosts are listed.
        </p>
      )}
      {failureGroups(failures).map((group, index) => (
        <Cause
          key={group.reason}
          group={group}
          isComplete={failed <= failures.length}
          isInitiallyOpen={index < INITIALLY_OPEN}
          {...source}
        />
      ))}
    </section>
  );
}

interface CauseProps extends Omit<FailedHostsProps, 'failures' | 'failed'> {
  group: FailureGroup;
  /** False if further hosts failed, whose causes are not stored. */
  isComplete: boolean;
  isInitiallyOpen: boolean;
}

/** A cause with its hosts, and the log of the host that failed first. */
function Cause({ group: { reason, message, hosts }, isComplete, ...source }: CauseProps) {
  const [first] = hosts;
  return (
    <article className={classes.cause}>
      <h3>
        {reason} on {isComplete ? '' : 'at least '}
        {countText(hosts.length, 'host')}
      </h3>
      {message && <p>{message}</p>}
      <ul>
        {hosts.map(({ node, time }) => (
          <li key={node}>
            <Link href={`/hosts/${node}`}>{node}</Link> <RelativeTime at={time} />
          </li>
        ))}
      </ul>
      {first && <LastLines {...source} node={first.node} />}
    </article>
  );
}

interface LastLinesProps {
  namespace: string;
  daemonSet: string;
  revision: string;
  node: string;
  isInitiallyOpen: boolean;
}

function LastLines({ isInitiallyOpen, ...whose }: LastLinesProps) {
  const [isOpen, setOpen] = useState(isInitiallyOpen);
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Last log lines of {whose.node}</summary>
      {isOpen && <Lines {...whose} />}
    </details>
  );
}

interface LogEnd {
  pod: string;
  container: string;
  isPrevious: boolean;
  text: string;
}

function Lines({ namespace, daemonSet, revision, node }: Omit<LastLinesProps, 'isInitiallyOpen'>) {
  const [end, setEnd] = useState<LogEnd>();
  const [problem, setProblem] = useState('');
  useEffect(() => {
    const abort = new AbortController();
    logEndOf({ namespace, daemonSet, revision, node }, abort.signal).then(setEnd, (error: unknown) => {
      if (!abort.signal.aborted) setProblem(error instanceof Error ? error.message : String(error));
    });
    return () => abort.abort();
  }, [namespace, daemonSet, revision, node]);
  if (problem) return <p role="status">{problem}</p>;
  if (!end) return <p role="status">{t('Loading…')}</p>;
  const { pod, container, isPrevious, text } = end;
  return (
    <>
      <ScrolledText label={`Last log lines of ${pod}`} text={text || 'The log is empty.'} wraps />
      <p>
        <Link href={`/pods/${namespace}/${pod}`}>{pod}</Link>
      </p>
      <CopyCommand
        text={`kubectl -n ${namespace} logs ${pod} -c ${container} --tail=${LINES}${isPrevious ? ' --previous' : ''}`}
      />
    </>
  );
}

/** Returns the log of the container in the worst state. Rejects with an error for the user. */
async function logEndOf(
  { namespace, daemonSet, revision, node }: Omit<LastLinesProps, 'isInitiallyOpen'>,
  signal: AbortSignal,
): Promise<LogEnd> {
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const { items } = await callApi<{ items: Pod[] }>(`${pods}?fieldSelector=spec.nodeName%3D${node}`, {
    signal,
  });
  const own = items.find(
    ({ metadata: { labels, ownerReferences } }) =>
      labels?.[REVISION_HASH_LABEL] === revision &&
      ownerReferences?.some(({ kind, name }) => kind === 'DaemonSet' && name === daemonSet),
  );
  if (!own) throw new Error('The failed Pod was deleted, and its log with it.');
  const statuses = [...(own.status?.initContainerStatuses ?? []), ...(own.status?.containerStatuses ?? [])];
  const worst = statuses.find(({ ready, state }) => !ready && !state?.terminated) ?? statuses.at(-1);
  const container = worst?.name ?? own.spec.containers[0]?.name ?? '';
  const pod = own.metadata.name;
  const path = `${pods}/${pod}/log?container=${container}&tailLines=${LINES}`;
  const isPrevious = worst?.state?.waiting !== undefined && worst.lastState?.terminated !== undefined;
  try {
    const text = await (await requestApi(isPrevious ? `${path}&previous=true` : path, { signal })).text();
    return { pod, container, isPrevious, text };
  } catch (error) {
    if (error instanceof ApiCallError) throw new Error(`The log is not available: ${error.message}`);
    throw error;
  }
}
