/** Next maintenance windows by time zone, in the viewer's and in the hosts' local time. */
import { Link } from 'wouter';
import type { CalendarZone, ChangeCalendar } from '../../shared/kube/fleet/change-calendar-types.js';
import { useApiResource } from '../api/use-api-resource.js';
import { LabelledTable, TableCard } from '../layout/list-table.js';
import { RelativeTime } from '../layout/time/relative-time.js';

const COLUMNS = ['Zone', 'Hosts', 'Now', 'Next'] as const;
const DAYS = 14;

interface NextWindowsProps {
  namespace: string;
  policy: string;
  version: string;
}

/** Shows nothing if the policy has no windows, or if the user may not read it. */
export function NextWindows({ namespace, policy, version }: NextWindowsProps) {
  const path = `/apis/fleet.everynode.dev/v1/namespaces/${namespace}/rolloutpolicies/${policy}/calendar`;
  const { answer: calendar } = useApiResource<ChangeCalendar>(`${path}?days=${DAYS}`, version);
  const zones = (calendar?.zones ?? []).filter(({ hosts }) => hosts > 0);
  if (zones.every(({ spans }) => spans.every(({ may }) => may === 'replace'))) return null;
  return (
    <TableCard label="Windows">
      <h2>Windows</h2>
      <LabelledTable columns={COLUMNS}>
        {zones.map((zone) => (
          <Zone key={zone.zones.join()} zone={zone} />
        ))}
      </LabelledTable>
      <p>
        <Link href="/calendar">Show all in the calendar</Link>
      </p>
    </TableCard>
  );
}

function Zone({ zone: { zones, hosts, spans } }: { zone: CalendarZone }) {
  const now = Date.now();
  const present = spans.find(({ from, to }) => Date.parse(from) <= now && now < Date.parse(to)) ?? spans[0];
  const next = spans.find(({ from, may }) => Date.parse(from) > now && may === 'replace');
  const isOpen = present?.may === 'replace';
  return (
    <tr>
      <th scope="row">{zones.join(', ') || 'any'}</th>
      <td>{hosts}</td>
      <td>
        {isOpen ? 'open' : (present?.why ?? 'closed')}
        {isOpen && present && (
          <>
            , closes <Moment at={present.to} zone={zones[0]} />
          </>
        )}
      </td>
      <td>{next ? <Moment at={next.from} zone={zones[0]} /> : `none within ${DAYS} days`}</td>
    </tr>
  );
}

/** Formats `in 3 hours (22:00 Europe/Berlin)`. */
function Moment({ at, zone }: { at: string; zone: string | undefined }) {
  const wall = (timeZone?: string) =>
    new Date(at).toLocaleString(undefined, {
      ...{ weekday: 'short', hour: '2-digit', minute: '2-digit' },
      ...(timeZone ? { timeZone } : {}),
    });
  return (
    <>
      <RelativeTime at={at} />: {wall()} here{zone && `, ${wall(zone)} there`}
    </>
  );
}
