/** One row of the calendar: a timeline and a list of the hosts of the same time zones. */

import type { CalendarSpan, CalendarZone } from '../../shared/kube/fleet/change-calendar-types.js';

import controls from '../layout/controls.module.css';
import { RelativeTime } from '../layout/time/relative-time.js';
import { RichText } from '../texts/rich-text.js';
import { counted, currentFormatTag, t, translated } from '../texts/translate.js';
import classes from './calendar-page.module.css';
import { midnightsBetween, SPAN_LABELS, spanKindOf, spanPosition, wallClockText } from './span-appearance.js';

/** Limits the list for windows that open very often. */
const MAX_LISTED = 100;

interface ZoneRowProps {
  zone: CalendarZone;
  from: string;
  to: string;
}

export function ZoneRow({ zone: { zones, hosts, spans }, from, to }: ZoneRowProps) {
  const names = zones.join(', ') || t('any zone');
  // Zones of windows precede those of freeze periods.
  const [own] = zones;
  const [now, next] = spans;
  return (
    <div className={classes.zone}>
      <h3>
        {names} · {counted('{{count}} hosts', hosts)}
      </h3>
      <div className={classes.track} aria-hidden="true">
        {spans.map((span) => {
          const { left, width } = spanPosition(span, from, to);
          return (
            <span
              key={span.from}
              className={classes.span}
              data-kind={spanKindOf(span)}
              title={`${rangeText(span, own)}: ${translated(SPAN_LABELS[spanKindOf(span)])}`}
              style={{ left: percent(left), width: percent(width) }}
            />
          );
        })}
        {midnightsBetween(from, to).map((day) => (
          <span
            key={day.getTime()}
            className={classes.day}
            style={{
              left: percent(spanPosition({ from: day.toISOString(), to, may: 'nothing' }, from, to).left),
            }}
          >
            {day.toLocaleDateString(currentFormatTag(), { weekday: 'short', day: 'numeric' })}
          </span>
        ))}
      </div>
      {now && (
        <p>
          {t('Now: {{state}}', { state: translated(SPAN_LABELS[spanKindOf(now)]) })}
          {now.why && ` (${now.why})`}
          {next && (
            <RichText
              text=", until {{time}} (<relative/>)"
              values={{ time: wallClockText(now.to, own) + (own ? ` ${own}` : '') }}
              parts={{ relative: <RelativeTime at={now.to} /> }}
            />
          )}
          .
        </p>
      )}
      <Changes spans={spans} zone={own} />
    </div>
  );
}

/** Lists the times of allowed changes as text, for screen readers and phones. */
function Changes({ spans, zone }: { spans: readonly CalendarSpan[]; zone: string | undefined }) {
  const listed = spans.filter((span) => spanKindOf(span) !== 'closed');
  if (listed.length === 0 || spans.length === 1) return null;
  return (
    <details>
      <summary>{counted('{{count}} times in total', listed.length)}</summary>
      <ul>
        {listed.slice(0, MAX_LISTED).map((span) => (
          <li key={span.from}>
            {rangeText(span, zone)}
            {zone && ` ${zone}`}: {translated(SPAN_LABELS[spanKindOf(span)])}
            {zone && (
              <span className={controls.dim}> · {t('for you {{time}}', { time: rangeText(span) })}</span>
            )}
          </li>
        ))}
      </ul>
      {listed.length > MAX_LISTED && <p>{t('and {{more}} more', { more: listed.length - MAX_LISTED })}</p>}
    </details>
  );
}

function rangeText({ from, to }: CalendarSpan, zone?: string): string {
  return t('{{from}} to {{to}}', { from: wallClockText(from, zone), to: wallClockText(to, zone) });
}

function percent(part: number): string {
  return `${(part * 100).toFixed(3)}%`;
}
