/** Conditions of a host and their changes since the coordinator's start. */
import type { ConditionChange } from '../../shared/kube/fleet/host-reading-types.js';
import type { Node } from '../../shared/kube/nodes/node-types.js';
import { TableCard } from '../layout/list-table.js';
import table from '../layout/table.module.css';
import { RelativeTime } from '../layout/time/relative-time.js';
import { ConditionStrip } from './condition-strip.js';

interface ConditionsProps {
  node: Node;
  changes: readonly ConditionChange[];
}

export function Conditions({ node, changes }: ConditionsProps) {
  const conditions = node.status?.conditions ?? [];
  return (
    <TableCard label="Conditions">
      <h2>Conditions</h2>
      {conditions.length === 0 && <p>The agent has not reported yet.</p>}
      <table className={`${table.table} ${table.details}`}>
        <tbody>
          {conditions.map(({ type, status, reason, message, lastTransitionTime }) => (
            <tr key={type}>
              <th scope="row">{type}</th>
              <td>{status}</td>
              <td>
                <ConditionStrip
                  type={type}
                  present={{ status, since: Date.parse(lastTransitionTime ?? '') || 0 }}
                  changes={changes.filter((change) => change.type === type)}
                />
              </td>
              <td>{reason}</td>
              <td data-long>{message}</td>
              <td>{lastTransitionTime && <RelativeTime at={lastTransitionTime} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {changes.length > 0 && (
        <details>
          <summary>
            <strong>{changes.length}</strong> {changes.length === 1 ? 'change' : 'changes'}, newest first
          </summary>
          <ul>
            {[...changes].reverse().map(({ time, type, status, reason, message }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two changes can be equal
              <li key={index}>
                <RelativeTime at={time} /> {type} became {status}
                {reason && ` (${reason})`}
                {message && `: ${message}`}
              </li>
            ))}
          </ul>
        </details>
      )}
    </TableCard>
  );
}
