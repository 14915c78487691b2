/** Activity: who changed what, newest first, from the audit log. The URL contains the filter. */
import { useCallback, useEffect, useId, useState } from 'react';
import type { AuditEvent } from '../../shared/kube/access/audit-types.js';
import { ApiCallError, callApi } from '../api/api-call.js';
import { useInterval } from '../api/live-list.js';
import controls from '../layout/controls.module.css';
import { ListTable } from '../layout/list-table.js';
import { Page } from '../layout/shell/page.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { useFrozenValue } from '../layout/use-frozen-value.js';
import { useUrlFilter } from '../layout/use-url-query.js';
import { ToggleButtons } from '../layout/widgets/toggle-buttons.js';
import { t } from '../texts/translate.js';
import { auditCommand, auditFilters } from './activity-filter.js';
import { ACTIVITY_RANGES, type ActivityRange, RANGE_NAMES, rangeQuery } from './activity-range.js';
import { ActivityRow } from './activity-row.js';
import { activitySentence } from './activity-sentence.js';
import classes from './audit-page.module.css';

/** Filters of the API that are seldom needed. */
const MORE_FILTERS = [
  ['verb', 'Verb'],
  ['resource', 'Resource'],
  ['namespace', 'Namespace'],
  ['code', 'Status code'],
] as const;
const MAX_ITEMS = 200;
/** The audit log is a file and cannot be watched. */
const ASK_AGAIN_MS = 5_000;

export function AuditPage() {
  const [params, set] = useUrlFilter();
  const [isHovered, setHovered] = useState(false);
  const range = ACTIVITY_RANGES.find((each) => each === params.get('range')) ?? 'week';
  const showsAll = params.get('show') === 'all';
  const filters = auditFilters(params);
  const { events: newest, problem } = useAudit(range, showsAll, JSON.stringify(filters));
  // New rows appear at the top. Keep them back while the user points at the table.
  const events = useFrozenValue(newest, isHovered);
  return (
    <Page title="Activity">
      <h1>{t('Activity')}</h1>
      <fieldset className={classes.ranges}>
        <legend>Time</legend>
        <ToggleButtons
          label="Time"
          choices={ACTIVITY_RANGES.map((each) => [each, RANGE_NAMES[each]])}
          chosen={range}
          onChoose={(each) => set('range', each)}
        />
        <label>
          <input
            type="checkbox"
            checked={showsAll}
            onChange={({ target }) => set('show', target.checked ? 'all' : '')}
          />{' '}
          Also reads of Secrets, sign-ins and refused requests
        </label>
      </fieldset>
      <div className={classes.filters}>
        <FilterField
          label="User"
          value={params.get('user') ?? ''}
          suggestions={(newest ?? []).map(({ user }) => user.username)}
          onChange={(value) => set('user', value)}
        />
        <FilterField
          label="Object"
          hint="till or default/till"
          value={params.get('object') ?? ''}
          suggestions={(newest ?? []).map((event) => activitySentence(event).object)}
          onChange={(value) => set('object', value)}
        />
      </div>
      <details open={MORE_FILTERS.some(([name]) => params.has(name))}>
        <summary>More filters</summary>
        <div className={classes.filters}>
          {MORE_FILTERS.map(([name, label]) => (
            <FilterField
              key={name}
              label={label}
              value={params.get(name) ?? ''}
              onChange={(value) => set(name, value)}
            />
          ))}
        </div>
      </details>
      {problem && <p role="alert">{problem}</p>}
      {!events && !problem && <p role="status">{t('Loading…')}</p>}
      {events?.length === 0 && <p>No events match.</p>}
      {events && events.length > 0 && (
        <div onPointerEnter={() => setHovered(true)} onPointerLeave={() => setHovered(false)}>
          <ListTable wraps label="Activity" columns={['When', 'What', 'Result', 'More']}>
            {events.map((event) => (
              <ActivityRow
                key={event.auditID}
                event={event}
                filtered={(name, value) => {
                  const next = new URLSearchParams(params);
                  next.set(name, value);
                  return `/audit?${next}`;
                }}
              />
            ))}
          </ListTable>
          {events.length >= MAX_ITEMS && <p>Only the newest {MAX_ITEMS} are shown. Choose a shorter time.</p>}
        </div>
      )}
      <CopyCommand text={auditCommand(filters)} />
    </Page>
  );
}

interface FilterFieldProps {
  label: string;
  hint?: string;
  value: string;
  suggestions?: readonly string[];
  onChange: (value: string) => void;
}

function FilterField({ label, hint, value, suggestions = [], onChange }: FilterFieldProps) {
  const id = useId();
  return (
    <label className={controls.field}>
      {label}
      <input
        className={controls.input}
        value={value}
        placeholder={hint}
        list={id}
        onChange={({ target }) => onChange(target.value)}
      />
      <datalist id={id}>
        {[...new Set(suggestions)].filter(Boolean).map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </label>
  );
}

/** Reloads when the filter changes, and periodically. `filters` is a JSON list of names and values. */
function useAudit(range: ActivityRange, showsAll: boolean, filters: string) {
  const [events, setEvents] = useState<readonly AuditEvent[]>();
  const [problem, setProblem] = useState('');
  const [reloads, setReloads] = useState(0);
  useInterval(
    ASK_AGAIN_MS,
    useCallback(() => setReloads((count) => (document.hidden ? count : count + 1)), []),
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: reload when the timer fires
  useEffect(() => {
    const abort = new AbortController();
    const query = new URLSearchParams([
      ['limit', String(MAX_ITEMS)],
      ['changes', String(!showsAll)],
      ...Object.entries(rangeQuery(range, new Date())),
      ...(JSON.parse(filters) as [string, string][]),
    ]);
    callApi<{ items: AuditEvent[] }>(`/apis/fleet.everynode.dev/v1/auditevents?${query}`, {
      signal: abort.signal,
    }).then(
      ({ items }) => {
        setEvents(items.reverse());
        setProblem('');
      },
      (error: unknown) => {
        if (!abort.signal.aborted) setProblem(error instanceof ApiCallError ? error.message : String(error));
      },
    );
    return () => abort.abort();
  }, [range, showsAll, filters, reloads]);
  return { events, problem };
}
