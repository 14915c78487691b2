/** The members of etcd with their health, as the leader sees them. */
import type { EtcdEndpoint } from '../../shared/kube/fleet/coordinator-types.js';
import { ListTable } from '../layout/list-table.js';
import { endpointText } from './coordinator-text.js';

const COLUMNS = ['etcd member', 'State', 'Version', 'Database'] as const;
const MEBIBYTE = 2 ** 20;

export function EtcdTable({ endpoints }: { endpoints: readonly EtcdEndpoint[] }) {
  return (
    <ListTable label="etcd" columns={COLUMNS}>
      {endpoints.map((each) => (
        <tr key={each.endpoint}>
          <th scope="row">{each.endpoint}</th>
          <td>{endpointText(each)}</td>
          <td>{each.version ?? ''}</td>
          <td>{each.dbBytes === undefined ? '' : `${(each.dbBytes / MEBIBYTE).toFixed(1)} MiB`}</td>
        </tr>
      ))}
    </ListTable>
  );
}
