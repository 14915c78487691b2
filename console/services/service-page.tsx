/** Page of a Service: its endpoints with reasons, and the hosts that have it. As printed by `everynode why`. */
import { useCallback, useState } from 'react';
import { Link, useParams } from 'wouter';
import type { ServiceReasonsDocument } from '../../shared/kube/fleet/service-explanation-types.js';
import type { EndpointSlice } from '../../shared/kube/services/endpoint-types.js';
import type { Service } from '../../shared/kube/services/service-types.js';
import { useInterval, useLiveList } from '../api/live-list.js';
import { useApiResource } from '../api/use-api-resource.js';
import controls from '../layout/controls.module.css';
import { Page } from '../layout/shell/page.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { EventList } from '../pods/event-list.js';
import { t } from '../texts/translate.js';
import { EndpointTable } from './endpoint-table.js';
import { addressText, portsText } from './service-text.js';

/** Hosts ask for Services without any object that could be watched. */
const REFRESH_MS = 10_000;
const MOST_HOSTS = 50;

export function ServicePage() {
  const { namespace = '', name = '' } = useParams();
  const { objects, phase, error } = useLiveList<Service>(
    `/api/v1/namespaces/${namespace}/services?fieldSelector=metadata.name%3D${name}`,
  );
  const [service] = objects;
  return (
    <Page title={`${name} – Services`}>
      <p>
        <Link href="/services">{t('Services')}</Link> / {namespace}
      </p>
      <h1>{name}</h1>
      {phase === 'loading' && <p role="status">{t('Loading…')}</p>}
      {phase === 'refused' && <p role="alert">{error?.message}</p>}
      {phase === 'live' && !service && <p>{t('There is no Service with this name.')}</p>}
      {service && <ServiceDetails service={service} />}
    </Page>
  );
}

function ServiceDetails({ service }: { service: Service }) {
  const { namespace = '', name, resourceVersion = '' } = service.metadata;
  const { spec } = service;
  const { answer, problem } = useExplanation(namespace, name, resourceVersion);
  return (
    <>
      <section className={controls.card} aria-label={t('Addresses')}>
        <h2>
          {spec?.type ?? 'ClusterIP'} {addressText(service)}
        </h2>
        <p role="status">{answer?.summary ?? problem ?? 'Loading…'}</p>
        <p className={controls.dim}>
          {portsText(service) || 'No ports'}
          {spec?.selector && `, selector ${labelsText(spec.selector)}`}
        </p>
        <p>
          <code>
            {name}.{namespace}.svc.cluster.local
          </code>
        </p>
      </section>
      {answer && answer.endpoints.length > 0 && <EndpointTable endpoints={answer.endpoints} />}
      {answer && answer.source !== 'externalName' && <KnownBy hosts={answer.knownBy} />}
      <EventList namespace={namespace} about={`involvedObject.kind=Service,involvedObject.name=${name}`} />
      <CopyCommand text={`everynode why svc/${name} -n ${namespace}`} />
    </>
  );
}

/** Loads the explanation again when the Service or its endpoints change, and regularly. */
function useExplanation(namespace: string, name: string, resourceVersion: string) {
  const selector = encodeURIComponent(`kubernetes.io/service-name=${name}`);
  const { objects } = useLiveList<EndpointSlice>(
    `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices?labelSelector=${selector}`,
  );
  const [round, setRound] = useState(0);
  useInterval(
    REFRESH_MS,
    useCallback(() => setRound((before) => before + 1), []),
  );
  const versions = objects.map(({ metadata }) => metadata.resourceVersion);
  return useApiResource<ServiceReasonsDocument>(
    `/apis/fleet.everynode.dev/v1/namespaces/${namespace}/services/${name}/why`,
    [resourceVersion, round, ...versions].join(' '),
  );
}

function KnownBy({ hosts }: { hosts: readonly string[] }) {
  const hidden = hosts.length - MOST_HOSTS;
  return (
    <section className={controls.card} aria-label={t('Hosts that have it')}>
      <h2>{t('Hosts that have it: {{count}}', { count: hosts.length })}</h2>
      {hosts.length === 0 && <p>{t('None. A host asks for a Service when one of its Pods looks it up.')}</p>}
      <p>
        {hosts.slice(0, MOST_HOSTS).map((host, at) => (
          <span key={host}>
            {at > 0 && ', '}
            <Link href={`/hosts/${host}`}>{host}</Link>
          </span>
        ))}
        {hidden > 0 && ` and ${hidden} more`}
      </p>
    </section>
  );
}

function labelsText(labels: Record<string, string>): string {
  return Object.entries(labels)
    .map(([label, value]) => `${label}=${value}`)
    .join(',');
}
