/** Page with all Services. */
import { Link } from 'wouter';
import type { EndpointSlice } from '../../shared/kube/services/endpoint-types.js';
import { type Service, serviceKey } from '../../shared/kube/services/service-types.js';
import { useScopedList } from '../api/namespace-choice.js';
import controls from '../layout/controls.module.css';
import { ListTable } from '../layout/list-table.js';
import { NotAllowed } from '../layout/not-allowed.js';
import { Page } from '../layout/shell/page.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { namespaceFlag } from '../layout/text/shell-words.js';
import { RichText } from '../texts/rich-text.js';
import { t } from '../texts/translate.js';
import { addressText, type EndpointCounts, endpointCounts, portsText } from './service-text.js';

const COLUMNS = ['Namespace', 'Name', 'Type', 'Address', 'Ports', 'Ready endpoints'] as const;

export function ServicesPage() {
  const { objects, phase, namespace } = useScopedList<Service>('/api/v1', 'services');
  const slices = useScopedList<EndpointSlice>('/apis/discovery.k8s.io/v1', 'endpointslices');
  const isCounted = slices.phase !== 'refused' && slices.phase !== 'loading';
  const counts = isCounted ? endpointCounts(slices.objects) : undefined;
  return (
    <Page title="Services">
      <h1>{t('Services')}</h1>
      {phase === 'loading' && <p role="status">{t('Loading…')}</p>}
      {phase === 'refused' && (
        <NotAllowed what="Services" resource="services" namespace={namespace} isNamespaced />
      )}
      {phase === 'live' && objects.length === 0 && (
        <p className={controls.card}>
          <RichText
            text="None yet. With a Service, Pods find the Pods of a DaemonSet by name: <command/> one with the DaemonSet’s labels as its selector."
            parts={{ command: <code>kubectl apply -f</code> }}
          />
        </p>
      )}
      {objects.length > 0 && (
        <ListTable label="Services" columns={COLUMNS}>
          {objects.map((service) => (
            <Row key={service.metadata.uid} service={service} counts={counts} />
          ))}
        </ListTable>
      )}
      <CopyCommand text={`kubectl get services ${namespaceFlag(namespace)}`} />
    </Page>
  );
}

interface RowProps {
  service: Service;
  /** By `namespace/name`. Undefined until EndpointSlices are loaded, and if the user may not read them. */
  counts: ReadonlyMap<string, EndpointCounts> | undefined;
}

function Row({ service, counts }: RowProps) {
  const { namespace = '', name } = service.metadata;
  const { ready, all } = counts?.get(serviceKey({ namespace, name })) ?? { ready: 0, all: 0 };
  const isAlias = service.spec?.type === 'ExternalName';
  return (
    <tr>
      <td>{namespace}</td>
      <th scope="row">
        <Link href={`/services/${namespace}/${name}`}>{name}</Link>
      </th>
      <td>{service.spec?.type ?? 'ClusterIP'}</td>
      <td>{addressText(service)}</td>
      <td>{portsText(service)}</td>
      <td>{counts && !isAlias ? `${ready}/${all}` : ''}</td>
    </tr>
  );
}
