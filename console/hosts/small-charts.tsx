/** Load and round trip of the last hour as four small charts. */
import { Link } from 'wouter';
import type { HostReadings, ReadingSeries } from '../../shared/kube/fleet/host-reading-types.js';
import controls from '../layout/controls.module.css';
import classes from './host-page.module.css';
import { SPARK_HEIGHT, SPARK_WIDTH, sparklinePoints } from './sparkline-points.js';

type Channel = Exclude<keyof ReadingSeries, 'stepSeconds' | 'times'>;

const CHANNELS: readonly (readonly [channel: Channel, name: string, unit: '%' | 'ms'])[] = [
  ['cpu', 'Processors', '%'],
  ['memory', 'Memory', '%'],
  ['disk', 'Disk', '%'],
  ['roundTripMs', 'Round trip', 'ms'],
];

interface SmallChartsProps {
  /** Path of the host's page. */
  path: string;
  readings: HostReadings | undefined;
  problem: string | undefined;
}

export function SmallCharts({ path, readings, problem }: SmallChartsProps) {
  return (
    <section className={controls.card} aria-label="Load">
      <h2>Load in the last hour</h2>
      {problem && <p>Load and link are not available: {problem}</p>}
      {!problem && !readings && <p role="status">Loading…</p>}
      {readings && readings.recent.times.length === 0 && (
        <p>No data yet. Hosts report their load about once a minute.</p>
      )}
      {readings && readings.recent.times.length > 0 && (
        <div className={classes.sparks}>
          {CHANNELS.map(([channel, name, unit]) => (
            <SmallChart key={channel} name={name} unit={unit} values={readings.recent[channel]} />
          ))}
        </div>
      )}
      <p>
        <Link href={`${path}?tab=metrics`}>Show metrics</Link>
      </p>
    </section>
  );
}

interface SmallChartProps {
  name: string;
  unit: '%' | 'ms';
  values: readonly (number | null)[];
}

function SmallChart({ name, unit, values }: SmallChartProps) {
  const known = values.filter((value) => value !== null);
  const [last, most] = [known.at(-1), Math.max(...known, 0)];
  const text = (value: number) => (unit === '%' ? `${Math.round(value * 100)} %` : `${Math.round(value)} ms`);
  return (
    <figure className={classes.spark}>
      <figcaption>
        <span className={controls.dim}>{name}</span>{' '}
        <strong>{last === undefined ? 'unknown' : text(last)}</strong>
        {last !== undefined && <span className={controls.dim}> at most {text(most)}</span>}
      </figcaption>
      <svg viewBox={`0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {sparklinePoints(values, unit === '%' ? 1 : most).map((points) => (
          <polyline key={points} points={points} />
        ))}
      </svg>
    </figure>
  );
}
