/** Charts of CPU, memory and disk usage for the last hour or day. */
import { lazy, Suspense } from 'react';
import type { HostReadings, ReadingSeries } from '../../shared/kube/fleet/host-reading-types.js';
import controls from '../layout/controls.module.css';
import { useHostZone } from '../layout/time/host-times.js';
import { useUrlQuery } from '../layout/use-url-query.js';

const LineChart = lazy(async () => ({ default: (await import('../charts/line-chart.js')).LineChart }));

const SPANS = [
  ['hour', 'The last hour'],
  ['day', 'The last day'],
] as const;
const CHANNELS = [
  ['cpu', 'Processors'],
  ['memory', 'Memory'],
  ['disk', 'Disk'],
] as const;

/** The URL contains the time span. */
export function LoadCharts({ readings }: { readings: HostReadings | undefined }) {
  const { zone, inHostZone } = useHostZone();
  const [query, setQuery] = useUrlQuery();
  const span = query.get('span') === 'day' ? 'day' : 'hour';
  const series = span === 'day' ? readings?.day : readings?.recent;
  return (
    <section className={controls.card} aria-label="Load">
      <h2>Load</h2>
      <div className={controls.row}>
        {SPANS.map(([value, words]) => (
          <button
            key={value}
            type="button"
            className={controls.button}
            aria-pressed={span === value}
            data-main={span === value || undefined}
            onClick={() => setQuery('span', value === 'hour' ? '' : value)}
          >
            {words}
          </button>
        ))}
      </div>
      {!series && <p role="status">Loading…</p>}
      {series && series.times.length === 0 && (
        <p>
          No data yet. Hosts report their load about once a minute. The coordinator keeps it only in memory.
        </p>
      )}
      {series && series.times.length > 0 && (
        <Suspense fallback={<p role="status">Loading the chart…</p>}>
          <LineChart
            {...(inHostZone && zone ? { timeZone: zone } : {})}
            label={`${CHANNELS.map(([channel, name]) => wordsOf(name, series[channel])).join('; ')}.`}
            times={series.times}
            lines={CHANNELS.map(([channel, name]) => ({ name, values: series[channel] }))}
            format={percent}
            span={span === 'day' ? 86_400 : 3_600}
            range={[0, 1]}
          />
          <p className={controls.dim}>
            {CHANNELS.map(([channel, name]) => wordsOf(name, series[channel])).join('; ')}. Each point is the
            maximum of {series.stepSeconds / 60 === 1 ? 'a minute' : `${series.stepSeconds / 60} minutes`}.
          </p>
        </Suspense>
      )}
    </section>
  );
}

function percent(part: number): string {
  return `${Math.round(part * 100)} %`;
}

/** Formats `Processors 12 %, at most 40 %`. */
function wordsOf(name: string, values: ReadingSeries['cpu']): string {
  const known = values.filter((value) => value !== null);
  const last = known.at(-1);
  if (last === undefined) return `${name} unknown`;
  return `${name} ${percent(last)}, at most ${percent(Math.max(...known))}`;
}
