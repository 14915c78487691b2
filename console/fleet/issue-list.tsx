/** Issues with the number of affected hosts. A click filters the fleet. */
import { Toggle } from '@base-ui/react/toggle';
import { ToggleGroup } from '@base-ui/react/toggle-group';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { callApi } from '../api/api-call.js';
import { useInterval } from '../api/live-list.js';
import { useFrozenValue } from '../layout/use-frozen-value.js';
import { coordinatorVersion, type FleetContext, ISSUE_NAMES, ISSUES, type Issue } from './host-issues.js';
import classes from './issue-list.module.css';

const MINUTE_MS = 60_000;

interface IssueListProps {
  counts: Readonly<Record<Issue, number>>;
  selected: Issue | undefined;
  onSelect: (issue: Issue | undefined) => void;
}

/** Shows nothing without issues. */
export function IssueList({ counts, selected, onSelect }: IssueListProps) {
  const [isHovered, setHovered] = useState(false);
  const present = ISSUES.filter((issue) => counts[issue] > 0 || issue === selected);
  // Items must not move while the user points at them.
  const shown = useFrozenValue(present, isHovered);
  if (shown.length === 0) return null;
  return (
    <section
      aria-label="Issues"
      onPointerEnter={() => setHovered(true)}
      onPointerLeave={() => setHovered(false)}
    >
      <ToggleGroup
        className={classes.list}
        value={selected ? [selected] : []}
        onValueChange={([issue]) => onSelect(issue)}
      >
        {shown.map((issue) => (
          <Toggle key={issue} value={issue} className={classes.item} data-issue={issue}>
            <strong>{counts[issue]}</strong> {ISSUE_NAMES[issue]}
          </Toggle>
        ))}
      </ToggleGroup>
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
