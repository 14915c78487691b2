/** Events of an object, newest first. */
import { Link } from 'wouter';
import type { KubeEvent } from '../../shared/kube/objects/event-types.js';
import { useLiveList } from '../api/live-list.js';
import { TableCard } from '../layout/list-table.js';
import table from '../layout/table.module.css';
import { RelativeTime } from '../layout/time/relative-time.js';
import { counted, t } from '../texts/translate.js';

const MAX_ITEMS = 50;

interface EventListProps {
  /** A field selector of Events. */
  about: string;
  /** Absent for hosts. */
  namespace?: string;
  /** Number of Events that are shown. */
  max?: number;
  /** Reason of Events that are folded, because there are many and they report success. */
  folds?: string;
  /** Path of a page with all Events. */
  more?: string;
}

export function EventList({ about, namespace, max = MAX_ITEMS, folds, more }: EventListProps) {
  const place = namespace === undefined ? '/api/v1/events' : `/api/v1/namespaces/${namespace}/events`;
  const { objects, phase } = useLiveList<KubeEvent>(`${place}?fieldSelector=${encodeURIComponent(about)}`);
  const sorted = [...objects].sort((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1));
  const events = sorted.filter(({ reason }) => reason !== folds).slice(0, max);
  const folded = sorted.filter(({ reason }) => reason === folds).slice(0, max);
  if (phase === 'refused') return null;
  return (
    <TableCard label="Events">
      <h2>{more ? 'Last Events' : t('Events')}</h2>
      {phase === 'live' && events.length + folded.length === 0 && <p>{t('No Events in the last hour.')}</p>}
      <EventTable events={events} />
      {folded.length > 0 && (
        <details>
          <summary>
            {folded.length} {folds}
          </summary>
          <EventTable events={folded} />
        </details>
      )}
      {more && (
        <p>
          <Link href={more}>Show all that happened</Link>
        </p>
      )}
    </TableCard>
  );
}

function EventTable({ events }: { events: readonly KubeEvent[] }) {
  return (
    <table className={`${table.table} ${table.details}`}>
      <tbody>
        {events.map((event) => (
          <tr key={event.metadata.uid}>
            <td>
              <RelativeTime at={timeOf(event)} />
            </td>
            <th scope="row">{event.reason}</th>
            <td data-long>
              {event.message}
              {(event.count ?? 1) > 1 && ` ${counted('({{count}} times)', event.count ?? 1)}`}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function timeOf({ lastTimestamp, eventTime, metadata }: KubeEvent): string {
  return lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? '';
}
