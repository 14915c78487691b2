/** For each DaemonSet: whether it runs on this host, and the reason, as printed by `everynode why`. */
import { useCallback, useEffect, useState } from 'react';
import { Link } from 'wouter';
import type { DaemonSet } from '../../shared/kube/daemonsets/daemonset-types.js';
import { countText } from '../../shared/kube/objects/meta.js';
import { useLiveList } from '../api/live-list.js';
import { useApiResource } from '../api/use-api-resource.js';
import { TableCard } from '../layout/list-table.js';
import { bySeverity, type ShownStatus } from '../layout/status/object-status.js';
import { isNotMeantForHost, reasonStatus } from '../layout/status/reason-status.js';
import { StatusBadge } from '../layout/status/status-badge.js';
import table from '../layout/table.module.css';
import { imagesText } from '../layout/text/image-text.js';

interface Reason {
  code: string;
  sentence: string;
}

interface Answer {
  reason?: Reason | undefined;
  /** The error message, if there is no reason. */
  problem?: string | undefined;
}

interface ReasonRow extends Answer {
  daemonSet: DaemonSet;
}

/** `version` is the Node's resourceVersion: a changed Node can have other reasons. */
export function DaemonSetReasons({ node, version }: { node: string; version: string }) {
  const { objects, phase } = useLiveList<DaemonSet>('/apis/apps/v1/daemonsets');
  const [answers, setAnswers] = useState<ReadonlyMap<string, Answer>>(new Map());
  const keepAnswer = useCallback(
    (key: string, answer: Answer) => setAnswers((before) => new Map(before).set(key, answer)),
    [],
  );
  if (phase === 'refused' || objects.length === 0) return null;
  const rows = objects
    .map((daemonSet) => ({ daemonSet, ...answers.get(keyOf(daemonSet)) }))
    .sort(bySeverityOf);
  const others = rows.filter(({ reason }) => reason && isNotMeantForHost(reason.code));
  return (
    <TableCard label="DaemonSets">
      <h2>DaemonSets on this host</h2>
      {objects.map((daemonSet) => (
        <ReasonLoader key={keyOf(daemonSet)} {...{ daemonSet, node, version }} onAnswer={keepAnswer} />
      ))}
      <ReasonTable rows={rows.filter((row) => !others.includes(row))} />
      {others.length > 0 && (
        <details>
          <summary>
            {countText(others.length, 'DaemonSet is', 'DaemonSets are')} not meant for this host
          </summary>
          <ReasonTable rows={others} />
        </details>
      )}
    </TableCard>
  );
}

interface ReasonLoaderProps {
  daemonSet: DaemonSet;
  node: string;
  version: string;
  onAnswer: (key: string, answer: Answer) => void;
}

/** Shows nothing. One component for each DaemonSet, because a hook cannot load a list of paths. */
function ReasonLoader({ daemonSet, node, version, onAnswer }: ReasonLoaderProps) {
  const { namespace = '', name, resourceVersion } = daemonSet.metadata;
  const { answer: reason, problem } = useApiResource<Reason>(
    `/apis/fleet.everynode.dev/v1/namespaces/${namespace}/daemonsets/${name}/why?node=${node}`,
    // A changed DaemonSet can have other reasons as well.
    `${version} ${resourceVersion}`,
  );
  const key = keyOf(daemonSet);
  useEffect(() => onAnswer(key, { reason, problem }), [onAnswer, key, reason, problem]);
  return null;
}

function ReasonTable({ rows }: { rows: readonly ReasonRow[] }) {
  return (
    <table className={`${table.table} ${table.details}`}>
      <tbody>
        {rows.map(({ daemonSet, reason, problem }) => {
          const { namespace = '', name } = daemonSet.metadata;
          return (
            <tr key={keyOf(daemonSet)}>
              <th scope="row">
                <Link href={`/daemonsets/${namespace}/${name}`}>{name}</Link>
              </th>
              <td>{reason && <StatusBadge status={reasonStatus(reason.code)} />}</td>
              <td data-short>{imagesText(daemonSet.spec.template.spec.containers)}</td>
              <td data-long>{reason?.sentence ?? problem}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** While its reason is loaded, a row is between those that need an operator and the others. */
const LOADING: ShownStatus = { tone: 'progress', word: 'Loading' };

/** DaemonSets that need an operator come first. */
function bySeverityOf(a: ReasonRow, b: ReasonRow): number {
  const [first, second] = [a, b].map(({ reason }) => (reason ? reasonStatus(reason.code) : LOADING));
  const severity = first && second ? bySeverity(first, second) : 0;
  return severity || (keyOf(a.daemonSet) < keyOf(b.daemonSet) ? -1 : 1);
}

function keyOf({ metadata }: DaemonSet): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}
