/** Preview of the Pods that a change of hosts would start and stop. */

import { useEffect, useState } from 'react';
import type { DaemonSetEffect, HostEffect } from '../../shared/kube/fleet/host-effect-types.js';
import type { NodeChange } from '../../shared/kube/nodes/node-change.js';

import { ACCESS, useIsAllowed } from '../api/access-checks.js';
import { fetchHostEffect } from '../api/node-writes.js';
import { counted, t } from '../texts/translate.js';
import controls from './controls.module.css';

interface EffectTextProps {
  hosts: readonly string[];
  change: NodeChange;
}

/** Reloads for each change. Shows a notice if the user has no permission. */
export function HostEffectText({ hosts, change }: EffectTextProps) {
  const mayAsk = useIsAllowed(ACCESS.foresee);
  const requested = JSON.stringify({ hosts, change });
  const [answer, setAnswer] = useState<{ requested: string; effect?: HostEffect; problem?: string }>();
  useEffect(() => {
    if (!mayAsk) return;
    const abort = new AbortController();
    const request = JSON.parse(requested) as EffectTextProps;
    fetchHostEffect(request.hosts, request.change, abort.signal).then(
      (effect) => setAnswer({ requested, effect }),
      (error: unknown) => {
        if (!abort.signal.aborted) setAnswer({ requested, problem: String(error) });
      },
    );
    return () => abort.abort();
  }, [requested, mayAsk]);
  if (!mayAsk) return <p className={controls.dim}>{t('You are not allowed to preview this change.')}</p>;
  if (answer?.requested !== requested) return <p role="status">{t('Loading the preview…')}</p>;
  if (!answer.effect) return <p role="alert">{answer.problem}</p>;
  return <Effect effect={answer.effect} />;
}

function Effect({ effect: { daemonSets, evicted, missing, unreadable = 0 } }: { effect: HostEffect }) {
  const changes = daemonSets.length > 0 || evicted > 0 || unreadable > 0;
  return (
    <div role="status" aria-label={t('Effect')}>
      {!changes && <p>{t('No Pods start or stop.')}</p>}
      {changes && (
        <ul>
          {daemonSets.map((each) => (
            <li key={`${each.namespace}/${each.name}`}>
              <strong>
                {each.namespace}/{each.name}
              </strong>
              : {countsOf(each)}
            </li>
          ))}
          {unreadable > 0 && (
            <li>
              {counted('{{count}} more DaemonSets change that you are not allowed to read.', unreadable)}
            </li>
          )}
          {evicted > 0 && <li>{counted('{{count}} Pods without a DaemonSet are evicted.', evicted)}</li>}
        </ul>
      )}
      {missing.length > 0 && <p>{counted('{{count}} of the hosts do not exist.', missing.length)}</p>}
    </div>
  );
}

function countsOf({ starts, startsOn, stops, stopsOn }: DaemonSetEffect): string {
  const parts = [
    starts > 0 && `${counted('{{count}} Pods start', starts)} (${namesOf(startsOn, starts)})`,
    stops > 0 && `${counted('{{count}} Pods stop', stops)} (${namesOf(stopsOn, stops)})`,
  ];
  return parts.filter(Boolean).join(', ');
}

function namesOf(names: readonly string[], count: number): string {
  const more = count - names.length;
  return more > 0 ? t('{{names}} and {{more}} more', { names: names.join(', '), more }) : names.join(', ');
}
