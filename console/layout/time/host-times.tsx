/** Display of times: relative, or in the host's time zone if its labels contain one. */
import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from 'react';
import { useInterval } from '../../api/live-list.js';
import { RichText } from '../../texts/rich-text.js';
import { currentFormatTag, t } from '../../texts/translate.js';
import controls from '../controls.module.css';
import { useUrlQuery } from '../use-url-query.js';
import { hostTimeZone } from './host-time-zone.js';

interface Zone {
  /** Time zone of the host. Absent if unknown. */
  zone?: string;
  /** True if times are shown in the host's zone. */
  inHostZone: boolean;
}

const HostZone = createContext<Zone>({ inHostZone: false });

const MINUTE_MS = 60_000;

/** Returns the time zone of the surrounding `HostTimes`. */
export function useHostZone(): Zone {
  return useContext(HostZone);
}

/** Offers to show all times in `children` in the host's zone. The URL contains the choice. */
export function HostTimes({ labels, children }: { labels?: Record<string, string>; children: ReactNode }) {
  const [query, setQuery] = useUrlQuery();
  const zone = useMemo(() => hostTimeZone(labels), [labels]);
  const inHostZone = zone !== undefined && query.get('times') === 'host';
  const value = useMemo(
    () => (zone === undefined ? { inHostZone } : { zone, inHostZone }),
    [zone, inHostZone],
  );
  return (
    <HostZone value={value}>
      {zone !== undefined && (
        <div className={controls.row}>
          <span>
            <RichText
              text="Local time of the host: <time/> ({{zone}})."
              parts={{ time: <TimeThere zone={zone} /> }}
              values={{ zone }}
            />
          </span>
          <label>
            <input
              type="checkbox"
              checked={inHostZone}
              onChange={({ target }) => setQuery('times', target.checked ? 'host' : '')}
            />{' '}
            {t('Show times in the host’s time zone')}
          </label>
        </div>
      )}
      {children}
    </HostZone>
  );
}

function TimeThere({ zone }: { zone: string }) {
  const [now, setNow] = useState(Date.now);
  useInterval(
    MINUTE_MS,
    useCallback(() => setNow(Date.now()), []),
  );
  const look = { weekday: 'short', hour: '2-digit', minute: '2-digit', timeZone: zone } as const;
  return (
    <time dateTime={new Date(now).toISOString()}>
      {new Date(now).toLocaleString(currentFormatTag(), look)}
    </time>
  );
}
