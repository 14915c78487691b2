/** Page of one object of any kind: conditions, the Pods that it selects, its manifest and Events. */
import { Link, useParams } from 'wouter';
import { FLEET_GROUP } from '../../shared/kube/objects/meta.js';
import type { ObjectWithHistory } from '../../shared/kube/objects/spec-history.js';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import { useLiveList } from '../api/live-list.js';
import controls from '../layout/controls.module.css';
import { ListTable } from '../layout/list-table.js';
import { SpecHistory } from '../layout/revisions/history-of-spec.js';
import { Page } from '../layout/shell/page.js';
import { podStatus } from '../layout/status/object-status.js';
import { StatusBadge } from '../layout/status/status-badge.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { ScrolledText } from '../layout/text/scrolled-text.js';
import { RelativeTime } from '../layout/time/relative-time.js';
import { EventList } from '../pods/event-list.js';
import { t } from '../texts/translate.js';
import { type AnyObject, conditionsOf, objectText, podSelector } from './object-text.js';
import { collectionPath, fromAddress, kubectlName, listAddress } from './served-kinds.js';

const MAX_PODS = 100;
/** Keeps its earlier specs. HostValues do too, and have a page of their own. */
const OVERRIDES = 'daemonsetoverrides';

export function ObjectPage() {
  const params = useParams();
  const { version = '', resource = '' } = params;
  const collection = { group: fromAddress(params.group), version, resource };
  const namespace = fromAddress(params.namespace);
  const name = decodeURIComponent(params.name ?? '');
  const { objects, phase, error } = useLiveList<AnyObject>(
    `${collectionPath(collection, namespace)}?fieldSelector=${encodeURIComponent(`metadata.name=${name}`)}`,
  );
  const [object] = objects;
  const place = namespace === '' ? '' : ` -n ${namespace}`;
  return (
    <Page title={`${name} – ${resource}`}>
      <p>
        <Link href="/resources">{t('Resources')}</Link> /{' '}
        <Link href={listAddress(collection)}>{resource}</Link>
        {namespace && ` / ${namespace}`}
      </p>
      <h1>{name}</h1>
      {phase === 'loading' && <p role="status">{t('Loading…')}</p>}
      {phase === 'refused' && <p role="alert">{error?.message}</p>}
      {phase === 'live' && !object && <p>{t('This object does not exist.')}</p>}
      {object && (
        <>
          <Conditions object={object} />
          <SelectedPods object={object} />
          {collection.group === FLEET_GROUP && resource === OVERRIDES && (
            <SpecHistory
              {...{ object: object as ObjectWithHistory, group: FLEET_GROUP, resource }}
              path={`${collectionPath(collection, namespace)}/${name}`}
              target={`dso/${name}`}
              effect={t(
                'The override can change image, variables, resources and volumes on every selected host. Changed Pods are replaced. The present version stays in the history.',
              )}
            />
          )}
          <section className={controls.card} aria-label={t('Manifest')}>
            <h2>{t('Manifest')}</h2>
            <ScrolledText label="Manifest as YAML" text={objectText(object)} />
            <CopyCommand text={`kubectl get ${kubectlName(collection)} ${name}${place} -o yaml`} />
          </section>
          <EventList
            {...(namespace ? { namespace } : {})}
            about={`involvedObject.kind=${object.kind},involvedObject.name=${name}`}
          />
        </>
      )}
    </Page>
  );
}

const CONDITION_COLUMNS = ['Condition', 'Status', 'Since', 'Reason', 'Message'] as const;

function Conditions({ object }: { object: AnyObject }) {
  const conditions = conditionsOf(object);
  if (conditions.length === 0) return null;
  return (
    <ListTable label="Conditions" columns={CONDITION_COLUMNS}>
      {conditions.map(({ type, status, lastTransitionTime, reason, message }) => (
        <tr key={type}>
          <th scope="row">{type}</th>
          <td>{status}</td>
          <td>{lastTransitionTime && <RelativeTime at={lastTransitionTime} />}</td>
          <td>{reason}</td>
          <td>{message}</td>
        </tr>
      ))}
    </ListTable>
  );
}

function SelectedPods({ object }: { object: AnyObject }) {
  const selector = podSelector(object);
  const { namespace } = object.metadata;
  if (selector === undefined || namespace === undefined) return null;
  return <PodTable namespace={namespace} selector={selector} />;
}

const POD_COLUMNS = ['Pod', 'Host', 'Status'] as const;

function PodTable({ namespace, selector }: { namespace: string; selector: string }) {
  const { objects, phase } = useLiveList<Pod>(
    `/api/v1/namespaces/${namespace}/pods?labelSelector=${encodeURIComponent(selector)}`,
  );
  if (phase === 'refused') return null;
  const hidden = objects.length - MAX_PODS;
  return (
    <section aria-label={t('Selected Pods')}>
      <h2>{t('Pods with the labels {{selector}}', { selector })}</h2>
      {phase === 'live' && objects.length === 0 && <p>{t('There are none.')}</p>}
      {objects.length > 0 && (
        <ListTable label="Pods" columns={POD_COLUMNS}>
          {objects.slice(0, MAX_PODS).map((pod) => (
            <tr key={pod.metadata.uid}>
              <th scope="row">
                <Link href={`/pods/${namespace}/${pod.metadata.name}`}>{pod.metadata.name}</Link>
              </th>
              <td>
                {pod.spec.nodeName ? (
                  <Link href={`/hosts/${pod.spec.nodeName}`}>{pod.spec.nodeName}</Link>
                ) : (
                  t('not scheduled')
                )}
              </td>
              <td>
                <StatusBadge status={podStatus(pod)} />
              </td>
            </tr>
          ))}
        </ListTable>
      )}
      {hidden > 0 && <p>{t('and {{more}} more', { more: hidden })}</p>}
    </section>
  );
}
