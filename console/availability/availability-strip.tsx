/** How much of the last day and week a host was Ready, with its outages. */
import type { HostAvailability } from '../../shared/kube/fleet/availability-types.js';
import controls from '../layout/controls.module.css';
import { RelativeTime } from '../layout/time/relative-time.js';
import classes from './availability-strip.module.css';
import { durationText, stripSpans, stripText } from './availability-text.js';

const DAY_MS = 86_400_000;

/** Shows nothing for a host that has never reported. */
export function AvailabilityCard({ availability }: { availability: HostAvailability | undefined }) {
  if (!availability) return null;
  const { outages, unknown } = availability;
  return (
    <section className={controls.card} aria-label="Availability">
      <h2>Availability</h2>
      <div className={classes.strips}>
        <Strip availability={availability} lengthMs={DAY_MS} />
        <Strip availability={availability} lengthMs={7 * DAY_MS} />
      </div>
      {unknown.length > 0 && (
        <p className={controls.dim}>
          Grey: no coordinator was running. The host may have been ready; this time is not counted.
        </p>
      )}
      {outages.length > 0 && (
        <details>
          <summary>
            <strong>{outages.length}</strong> {outages.length === 1 ? 'outage' : 'outages'} in 7 days, newest
            first
          </summary>
          <ul>
            {[...outages].reverse().map(({ from, to, downSeconds }) => (
              <li key={from}>
                <RelativeTime at={from} />: not ready for {durationText(downSeconds)}
                {to === undefined && ', and still is'}
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function Strip({ availability, lengthMs }: { availability: HostAvailability; lengthMs: number }) {
  const now = Date.now();
  return (
    <figure className={classes.figure}>
      <figcaption>{stripText(availability, now, lengthMs)}</figcaption>
      <svg className={classes.strip} viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
        {stripSpans(availability, now, lengthMs).map(({ from, to, state }) => (
          <rect key={`${state} ${from}`} data-state={state} x={from} width={to - from} height="1" />
        ))}
      </svg>
    </figure>
  );
}
