/** Issues with the number of affected hosts. A click filters the fleet, or opens the rollouts. */
import { useCallback, useEffect, useMemo, useState } from 'react';
import { Link } from 'wouter';
import type { Rollout } from '../../shared/kube/rollouts/rollout-types.js';
import { callApi } from '../api/api-call.js';
import { useInterval, useLiveList } from '../api/live-list.js';
import controls from '../layout/controls.module.css';
import { useFrozenValue } from '../layout/use-frozen-value.js';
import {
  coordinatorVersion,
  type FleetContext,
  ISSUES,
  type Issue,
  issueName,
  stalledRollouts,
} from './host-issues.js';
import classes from './issue-list.module.css';

const ROLLOUTS = '/apis/fleet.everynode.dev/v1/rollouts';
const MINUTE_MS = 60_000;

interface AttentionListProps {
  counts: Readonly<Record<Issue, number>>;
  /** True if a filter excludes hosts. */
  isFiltered: boolean;
  selected: Issue | undefined;
  onSelect: (issue: Issue | undefined) => void;
}

export function IssueList({ counts: ofHosts, isFiltered, selected, onSelect }: AttentionListProps) {
  const { objects: rollouts } = useLiveList<Rollout>(ROLLOUTS);
  const [isHovered, setHovered] = useState(false);
  const counts = { ...ofHosts, rollouts: stalledRollouts(rollouts).length };
  const present = ISSUES.filter((issue) => counts[issue] > 0 || issue === selected);
  // Items must not move while the user points at them.
  const shown = useFrozenValue(present, isHovered);
  return (
    <section
      className={controls.card}
      aria-label="Needs attention"
      onPointerEnter={() => setHovered(true)}
      onPointerLeave={() => setHovered(false)}
    >
      <h2>Needs attention</h2>
      {shown.length === 0 && (
        <p className={controls.dim}>
          {isFiltered ? 'No issues among the hosts that match the filter.' : 'No issues.'}
        </p>
      )}
      <ul className={classes.list}>
        {shown.map((issue) => (
          <li key={issue}>
            {issue === 'rollouts' ? (
              <Link href="/rollouts" className={classes.item} data-issue={issue}>
                <strong>{counts[issue]}</strong> {issueName(issue, counts[issue])}
              </Link>
            ) : (
              <button
                type="button"
                className={classes.item}
                data-issue={issue}
                aria-pressed={issue === selected}
                onClick={() => onSelect(issue === selected ? undefined : issue)}
              >
                <strong>{counts[issue]}</strong> {issueName(issue, counts[issue])}
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Returns the current time, updated every minute, and the coordinator's version. */
export function useFleetContext(): FleetContext {
  const [now, setNow] = useState(Date.now);
  const [version, setVersion] = useState('');
  useInterval(
    MINUTE_MS,
    useCallback(() => setNow(Date.now()), []),
  );
  useEffect(() => {
    const abort = new AbortController();
    void callApi<{ gitVersion?: string }>('/version', { signal: abort.signal }).then(
      ({ gitVersion = '' }) => setVersion(coordinatorVersion(gitVersion)),
      () => undefined,
    );
    return () => abort.abort();
  }, []);
  return useMemo(() => ({ now, version }), [now, version]);
}
