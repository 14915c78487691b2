/** Events of an object, newest first. */
import type { KubeEvent } from '../../shared/kube/objects/event-types.js';
import { useLiveList } from '../api/live-list.js';
import { TableCard } from '../layout/list-table.js';
import table from '../layout/table.module.css';
import { RelativeTime } from '../layout/time/relative-time.js';
import { counted, t } from '../texts/translate.js';

const MAX_ITEMS = 50;

/** `about` is a field selector of Events. `namespace` is absent for hosts. */
export function EventList({ about, namespace }: { about: string; namespace?: string }) {
  const place = namespace === undefined ? '/api/v1/events' : `/api/v1/namespaces/${namespace}/events`;
  const { objects, phase } = useLiveList<KubeEvent>(`${place}?fieldSelector=${encodeURIComponent(about)}`);
  const events = [...objects].sort((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1)).slice(0, MAX_ITEMS);
  if (phase === 'refused') return null;
  return (
    <TableCard label="Events">
      <h2>{t('Events')}</h2>
      {phase === 'live' && events.length === 0 && <p>{t('No Events in the last hour.')}</p>}
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
    </TableCard>
  );
}

function timeOf({ lastTimestamp, eventTime, metadata }: KubeEvent): string {
  return lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? '';
}
