/** Endpoints of a Service by host, with the reason of each. Those that are not ready come first. */
import { useState } from 'react';
import { Link } from 'wouter';
import {
  ENDPOINT_CODES,
  type EndpointCode,
  type EndpointExplanation,
} from '../../shared/kube/fleet/service-explanation-types.js';
import { hostPortText } from '../../shared/kube/services/host-port-text.js';
import controls from '../layout/controls.module.css';
import { ListTable } from '../layout/list-table.js';
import { t } from '../texts/translate.js';

/** Rows on the page. A filter selects among more endpoints. */
const MOST_ROWS = 200;
const COLUMNS = ['State', 'Host', 'Pod', 'Address', 'Reason'] as const;

export function EndpointTable({ endpoints }: { endpoints: readonly EndpointExplanation[] }) {
  const [code, setCode] = useState<EndpointCode | ''>('');
  const codes = ENDPOINT_CODES.filter((each) => endpoints.some((endpoint) => endpoint.code === each));
  const selected = endpoints.filter((endpoint) => code === '' || endpoint.code === code);
  const sorted = [
    ...selected.filter((endpoint) => endpoint.code !== 'Ready'),
    ...selected.filter((endpoint) => endpoint.code === 'Ready'),
  ];
  const hidden = sorted.length - MOST_ROWS;
  return (
    <>
      <p className={controls.row}>
        <label>
          {t('State')}{' '}
          <select value={code} onChange={({ target }) => setCode(target.value as EndpointCode | '')}>
            <option value="">{t('all ({{count}})', { count: endpoints.length })}</option>
            {codes.map((each) => (
              <option key={each} value={each}>
                {each} ({endpoints.filter((endpoint) => endpoint.code === each).length})
              </option>
            ))}
          </select>
        </label>
      </p>
      <ListTable label="Endpoints" columns={COLUMNS}>
        {sorted.slice(0, MOST_ROWS).map((endpoint, at) => (
          <Row key={endpoint.pod || at} endpoint={endpoint} />
        ))}
      </ListTable>
      {hidden > 0 && <p className={controls.dim}>{t('and {{more}} more', { more: hidden })}</p>}
    </>
  );
}

function Row({ endpoint: { code, node, pod, listed, because } }: { endpoint: EndpointExplanation }) {
  return (
    <tr>
      <th scope="row">{code}</th>
      <td>{node && <Link href={`/hosts/${node}`}>{node}</Link>}</td>
      <td>{pod}</td>
      <td>{listed && hostPortText(listed)}</td>
      <td data-long>{because}</td>
    </tr>
  );
}
