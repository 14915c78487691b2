/** Calendar of the next days: windows and freeze periods of all policies, by time zone. */
import { useCallback, useEffect, useState } from 'react';
import type { ChangeCalendar } from '../../shared/kube/fleet/change-calendar-types.js';
import type { RolloutPolicy } from '../../shared/kube/rollouts/rollout-policy-types.js';
import { callApi } from '../api/api-call.js';
import { useInterval } from '../api/live-list.js';
import { useScopedList } from '../api/namespace-choice.js';
import controls from '../layout/controls.module.css';
import { NotAllowed } from '../layout/not-allowed.js';
import { Page } from '../layout/shell/page.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { useUrlQuery } from '../layout/use-url-query.js';
import { RichText } from '../texts/rich-text.js';
import { t, translated } from '../texts/translate.js';
import classes from './calendar-page.module.css';
import { ZoneRow } from './calendar-zone-row.js';
import { SPAN_LABELS, type SpanKind } from './span-appearance.js';

const FLEET_API = '/apis/fleet.everynode.dev/v1';
const DAYS = ['3', '7', '14', '30'];
const USUAL_DAYS = '7';
/** The calendar depends on the current time. */
const RENEW_MS = 60_000;

export function CalendarPage() {
  const { objects, phase, namespace } = useScopedList<RolloutPolicy>(FLEET_API, 'rolloutpolicies');
  const [params, set] = useUrlQuery();
  const days = DAYS.find((each) => each === params.get('days')) ?? USUAL_DAYS;
  return (
    <Page title="Schedule">
      <h1>{t('Schedule')}</h1>
      {phase === 'loading' && <p role="status">{t('Loading policies…')}</p>}
      {phase === 'refused' && (
        <NotAllowed
          what="policies"
          resource="rolloutpolicies.fleet.everynode.dev"
          namespace={namespace}
          isNamespaced
        />
      )}
      {phase === 'live' && objects.length === 0 && (
        <p className={controls.card}>
          <RichText
            text="No policies: changes are allowed at any time. Use a <policy/> with <windows/> or <freezes/> to restrict them."
            parts={{
              policy: <code>RolloutPolicy</code>,
              windows: <code>windows</code>,
              freezes: <code>freezes</code>,
            }}
          />
        </p>
      )}
      {objects.length > 0 && (
        <div className={controls.row}>
          <label>
            {t('Days')}{' '}
            <select
              className={controls.input}
              value={days}
              onChange={(event) => set('days', event.target.value === USUAL_DAYS ? '' : event.target.value)}
            >
              {DAYS.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          </label>
          <ul className={classes.legend} aria-label={t('Colours')}>
            {(Object.keys(SPAN_LABELS) as SpanKind[]).map((kind) => (
              <li key={kind}>
                <span className={classes.swatch} data-kind={kind} /> {translated(SPAN_LABELS[kind])}
              </li>
            ))}
          </ul>
        </div>
      )}
      {objects.map((policy) => (
        <Policy key={policy.metadata.uid} policy={policy} days={days} />
      ))}
      {objects.length > 0 && (
        <CopyCommand
          text={`kubectl get rolloutpolicies ${namespace === undefined ? '-A' : `-n ${namespace}`}`}
        />
      )}
    </Page>
  );
}

function Policy({ policy: { metadata }, days }: { policy: RolloutPolicy; days: string }) {
  const { namespace = '', name, resourceVersion } = metadata;
  const { calendar, problem } = useCalendar(
    `${FLEET_API}/namespaces/${namespace}/rolloutpolicies/${name}/calendar?days=${days}`,
    resourceVersion,
  );
  return (
    <section className={controls.card} aria-label={`Policy ${namespace}/${name}`}>
      <h2>
        {namespace}/{name}
      </h2>
      {problem && <p role="alert">{problem}</p>}
      {!calendar && !problem && <p role="status">{t('Loading…')}</p>}
      {calendar && (
        <>
          <p className={controls.dim}>
            {calendar.daemonSets.length === 0
              ? t('It applies to no DaemonSet.')
              : t('Applies to {{names}}.', { names: calendar.daemonSets.join(', ') })}
          </p>
          {calendar.held && (
            <p role="status">
              <strong>{t('The policy is {{state}}:', { state: translated(calendar.held) })}</strong>{' '}
              {t('nothing changes, regardless of its windows.')}
            </p>
          )}
          {calendar.zones.map((zone) => (
            <ZoneRow key={zone.zones.join()} zone={zone} from={calendar.from} to={calendar.to} />
          ))}
        </>
      )}
    </section>
  );
}

/** Reloads when the policy changes, and periodically. */
function useCalendar(path: string, revision: string | undefined) {
  const [answer, setAnswer] = useState<{ calendar?: ChangeCalendar; problem: string }>({ problem: '' });
  const [reloads, setReloads] = useState(0);
  useInterval(
    RENEW_MS,
    useCallback(() => setReloads((count) => count + 1), []),
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: reload when the policy changes or the timer fires
  useEffect(() => {
    const abort = new AbortController();
    callApi<ChangeCalendar>(path, { signal: abort.signal }).then(
      (calendar) => setAnswer({ calendar, problem: '' }),
      (error: unknown) => {
        if (!abort.signal.aborted) setAnswer({ problem: String(error) });
      },
    );
    return () => abort.abort();
  }, [path, revision, reloads]);
  return answer;
}
