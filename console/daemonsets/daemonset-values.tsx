/** The values of hosts that a DaemonSet's template uses. Shows nothing if it uses none. */
import { Link } from 'wouter';
import type { DaemonSet } from '../../shared/kube/daemonsets/daemonset-types.js';
import { TableCard } from '../layout/list-table.js';
import table from '../layout/table.module.css';
import { templateValues } from './template-values.js';

export function DaemonSetValues({ daemonSet: { metadata, spec } }: { daemonSet: DaemonSet }) {
  const values = templateValues(spec.template);
  if (values.length === 0) return null;
  return (
    <TableCard label="Values">
      <h2>Values of the host that it uses</h2>
      <table className={`${table.table} ${table.wraps}`}>
        <tbody>
          {values.map(({ path, key, places }) => (
            <tr key={path}>
              <th scope="row">
                {key === undefined ? (
                  <code>{path}</code>
                ) : (
                  <Link href={`/values?namespace=${metadata.namespace}&key=${encodeURIComponent(key)}`}>
                    {key}
                  </Link>
                )}
              </th>
              <td>{places.join(', ')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableCard>
  );
}
