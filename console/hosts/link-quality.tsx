/** Link of a host: connection state, round-trip time, reconnects and traffic. */
import { Suspense } from 'react';
import type { BytesByCause, HostMeters, LinkCause } from '../../shared/kube/fleet/host-meter-types.js';
import type { HostReadings } from '../../shared/kube/fleet/host-reading-types.js';
import type { Node } from '../../shared/kube/nodes/node-types.js';
import controls from '../layout/controls.module.css';
import { lazyPage } from '../layout/lazy-page.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { useHostZone } from '../layout/time/host-times.js';
import { RelativeTime } from '../layout/time/relative-time.js';
import { offlineSpans } from './condition-intervals.js';

const LineChart = lazyPage(async () => (await import('../charts/line-chart.js')).LineChart);

interface LinkQualityProps {
  node: Node;
  readings: HostReadings | undefined;
  meters: HostMeters | undefined;
}

export function LinkQuality({ node, readings, meters }: LinkQualityProps) {
  const { zone, inHostZone } = useHostZone();
  const connected = node.status?.conditions?.find(({ type }) => type === 'Connected');
  const isUp = connected?.status === 'True';
  const trips = readings?.recent.roundTripMs.filter((value) => value !== null) ?? [];
  const last = trips.at(-1) ?? meters?.link.roundTripMs;
  return (
    <section className={controls.card} aria-label="Link">
      <h2>Link</h2>
      <dl className={controls.row}>
        <Fact term="State">
          {connected ? (
            <>
              {isUp ? 'connected' : 'not connected'}
              {connected.lastTransitionTime && (
                <>
                  , since <RelativeTime at={connected.lastTransitionTime} />
                </>
              )}
            </>
          ) : (
            'never seen'
          )}
        </Fact>
        <Fact term="Last contact">
          {readings?.lastContactTime ? (
            <RelativeTime at={readings.lastContactTime} />
          ) : (
            'not since the start of the coordinator'
          )}
        </Fact>
        <Fact term="Round trip">{last === undefined ? 'not measured yet' : `${last} ms`}</Fact>
        {meters && (
          <>
            <Fact term="Connections">
              {meters.link.connects}, since <RelativeTime at={meters.link.since} />
            </Fact>
            <Fact term="Traffic">
              {meters.link.bytesPerDay === undefined
                ? 'available in a minute'
                : `${amount(meters.link.bytesPerDay)} a day`}
            </Fact>
          </>
        )}
      </dl>
      {meters && <Causes up={meters.link.up} down={meters.link.down} />}
      {readings && trips.length > 1 && (
        <Suspense fallback={<p role="status">Loading the chart…</p>}>
          <LineChart
            {...(inHostZone && zone ? { timeZone: zone } : {})}
            label={`Round trip ${last} ms, at most ${Math.max(...trips)} ms in the last hour.`}
            times={readings.recent.times}
            lines={[{ name: 'Round trip', values: readings.recent.roundTripMs }]}
            span={3_600}
            format={(ms) => `${Math.round(ms)} ms`}
            leastStep={1}
            offline={offlineSpans(readings.changes, connected, Date.now())}
          />
        </Suspense>
      )}
      <CopyCommand
        text={`kubectl get --raw /apis/fleet.everynode.dev/v1/hosts/${node.metadata.name}/readings`}
      />
    </section>
  );
}

function Fact({ term, children }: { term: string; children: React.ReactNode }) {
  return (
    <div>
      <dt className={controls.dim}>{term}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Shows the traffic by cause, such as `heartbeats 12.3 kB, status 1.9 kB`. */
function Causes({ up, down }: { up: BytesByCause; down: BytesByCause }) {
  const causes = (Object.keys(up) as LinkCause[])
    .map((cause) => ({ cause, bytes: up[cause] + down[cause] }))
    .filter(({ bytes }) => bytes > 0)
    .sort((a, b) => b.bytes - a.bytes);
  if (causes.length === 0) return null;
  return (
    <p className={controls.dim}>
      By purpose: {causes.map(({ cause, bytes }) => `${cause} ${amount(bytes)}`).join(', ')}.
    </p>
  );
}

/** Decimal units, like mobile tariffs. */
function amount(bytes: number): string {
  if (bytes < 1e3) return `${bytes} B`;
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
