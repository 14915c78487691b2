/** State of one namespace's DaemonSets and rollouts, for users who may not see hosts. */
import { Link } from 'wouter';
import type { DaemonSet } from '../../shared/kube/daemonsets/daemonset-types.js';
import { countText } from '../../shared/kube/objects/meta.js';
import type { Rollout } from '../../shared/kube/rollouts/rollout-types.js';
import { useScopedList } from '../api/namespace-choice.js';
import { ListTable } from '../layout/list-table.js';
import { NotAllowed } from '../layout/not-allowed.js';
import { bySeverity, daemonSetStatus } from '../layout/status/object-status.js';
import { StatusBadge } from '../layout/status/status-badge.js';
import { imagesText } from '../layout/text/image-text.js';
import { t } from '../texts/translate.js';
import { ActiveRollouts } from './active-rollouts.js';
import classes from './overview-page.module.css';

interface NamespaceOverviewProps {
  rollouts: readonly Rollout[];
  namespace: string | undefined;
}

export function NamespaceOverview({ rollouts, namespace }: NamespaceOverviewProps) {
  const { objects, phase } = useScopedList<DaemonSet>('/apis/apps/v1', 'daemonsets');
  if (phase === 'loading') return <p role="status">{t('Loading…')}</p>;
  if (phase === 'refused')
    return <NotAllowed what="DaemonSets" resource="daemonsets.apps" namespace={namespace} isNamespaced />;
  const statuses = objects.map((each) => daemonSetStatus(each));
  const ok = statuses.filter(({ tone }) => tone === 'ok' || tone === 'over').length;
  const [worst] = [...statuses].sort(bySeverity);
  const where = namespace === undefined ? '' : ` in namespace ${namespace}`;
  const word = `${ok} of ${countText(objects.length, 'DaemonSet')}${where} available on all hosts.`;
  return (
    <>
      <section
        className={classes.headline}
        data-tone={worst?.tone ?? 'ok'}
        aria-label="State of the namespace"
      >
        <p className={classes.sentence} role="status">
          <StatusBadge status={{ tone: worst?.tone ?? 'over', word }} />
        </p>
      </section>
      {objects.length > 0 && (
        <ListTable label="DaemonSets" columns={['Name', 'State', 'Version']}>
          {objects.map((daemonSet) => (
            <tr key={daemonSet.metadata.uid}>
              <th scope="row">
                <Link href={`/daemonsets/${daemonSet.metadata.namespace}/${daemonSet.metadata.name}`}>
                  {daemonSet.metadata.name}
                </Link>
              </th>
              <td>
                <StatusBadge status={daemonSetStatus(daemonSet)} />
              </td>
              <td>{imagesText(daemonSet.spec.template.spec.containers)}</td>
            </tr>
          ))}
        </ListTable>
      )}
      <ActiveRollouts rollouts={rollouts} />
    </>
  );
}
