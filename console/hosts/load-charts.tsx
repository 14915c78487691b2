/** Charts of CPU, memory and disk usage for the last hour or day. */
import { Suspense } from 'react';
import type { HostReadings, ReadingSeries } from '../../shared/kube/fleet/host-reading-types.js';
import type { Node } from '../../shared/kube/nodes/node-types.js';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import type { Mark } from '../charts/chart-marks.js';
import controls from '../layout/controls.module.css';
import { lazyPage } from '../layout/lazy-page.js';
import { shortImage } from '../layout/text/image-text.js';
import { useHostZone } from '../layout/time/host-times.js';
import { useUrlQuery } from '../layout/use-url-query.js';
import { ToggleButtons } from '../layout/widgets/toggle-buttons.js';
import { t } from '../texts/translate.js';
import { offlineSpans } from './condition-intervals.js';

const LineChart = lazyPage(async () => (await import('../charts/line-chart.js')).LineChart);

const SPANS = [
  ['hour', 'The last hour'],
  ['day', 'The last day'],
] as const;
const CHANNELS = [
  ['cpu', 'Processors'],
  ['memory', 'Memory'],
  ['disk', 'Disk'],
] as const;

interface LoadChartsProps {
  node: Node;
  pods: readonly Pod[];
  readings: HostReadings | undefined;
}

/** The URL contains the time span. */
export function LoadCharts({ readings, node, pods }: LoadChartsProps) {
  const connected = node.status?.conditions?.find(({ type }) => type === 'Connected');
  const { zone, inHostZone } = useHostZone();
  const [query, setQuery] = useUrlQuery();
  const span = query.get('span') === 'day' ? 'day' : 'hour';
  const series = span === 'day' ? readings?.day : readings?.recent;
  return (
    <section className={controls.card} aria-label="Load">
      <h2>Load</h2>
      <ToggleButtons
        label="Time"
        choices={SPANS}
        chosen={span}
        onChoose={(value) => setQuery('span', value === 'hour' ? '' : value)}
      />
      {!series && <p role="status">{t('Loading…')}</p>}
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
            leastStep={0.05}
            offline={offlineSpans(readings?.changes ?? [], connected, Date.now())}
            marks={pods.flatMap(startMark)}
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

/** The start of a Pod with its image, which shows a release in the load of its host. */
function startMark({ status, spec }: Pod): Mark[] {
  const image = spec.containers[0]?.image;
  return status?.startTime && image
    ? [{ at: Date.parse(status.startTime) / 1000, label: shortImage(image) }]
    : [];
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
