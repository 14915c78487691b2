/** Page with all coordinators: who leads, who can take over, etcd, and what is wrong. */
import type { ClusterProblem, Coordinator } from '../../shared/kube/fleet/coordinator-types.js';
import { COORDINATORS, hasCluster, problemsOf } from '../api/known-coordinators.js';
import { useLiveList } from '../api/live-list.js';
import controls from '../layout/controls.module.css';
import { ListTable } from '../layout/list-table.js';
import { NotAllowed } from '../layout/not-allowed.js';
import { Page } from '../layout/shell/page.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { RelativeTime } from '../layout/time/relative-time.js';
import { t } from '../texts/translate.js';
import { behindText, clockText, clusterSentence } from './coordinator-text.js';
import classes from './coordinators-page.module.css';
import { EtcdTable } from './etcd-table.js';

const COLUMNS = ['Name', 'Role', 'Behind', 'Version', 'Clock', 'Address', 'Joined'] as const;

export function CoordinatorsPage() {
  const { objects, phase } = useLiveList<Coordinator>(COORDINATORS);
  return (
    <Page title="Coordinators">
      <h1>{t('Coordinators')}</h1>
      {phase === 'loading' && <p role="status">{t('Loading…')}</p>}
      {phase === 'refused' && <NotAllowed what="coordinators" resource="coordinators.fleet.everynode.dev" />}
      {objects.length > 0 && <p role="status">{clusterSentence(objects)}</p>}
      {hasCluster(objects) && <ClusterDetails coordinators={objects} />}
      <CopyCommand text="kubectl get coordinators -o wide" />
    </Page>
  );
}

function ClusterDetails({ coordinators }: { coordinators: readonly Coordinator[] }) {
  const problems = problemsOf(coordinators);
  const etcd = coordinators.flatMap(({ status }) => status.etcd ?? []);
  return (
    <>
      {problems.length > 0 && <ProblemList problems={problems} />}
      <ListTable label="Coordinators" columns={COLUMNS}>
        {coordinators.map((each) => (
          <Row key={each.metadata.name} coordinator={each} />
        ))}
      </ListTable>
      {etcd.length > 0 && <EtcdTable endpoints={etcd} />}
    </>
  );
}

function ProblemList({ problems }: { problems: readonly ClusterProblem[] }) {
  return (
    <section className={controls.card} aria-label={t('What is wrong')}>
      <h2>{t('What is wrong')}</h2>
      <ul className={classes.problems}>
        {problems.map(({ severity, reason, message }) => (
          <li key={`${reason} ${message}`} data-severity={severity}>
            <strong>{severity === 'error' ? 'Error' : 'Warning'}</strong> {message}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Row({ coordinator: { metadata, spec, status } }: { coordinator: Coordinator }) {
  return (
    <tr>
      <th scope="row">{metadata.name}</th>
      <td className={classes.role} data-role={status.role}>
        {status.role}
      </td>
      <td>{behindText(status)}</td>
      <td>{status.version ?? ''}</td>
      <td>{clockText(status)}</td>
      <td>{spec.server}</td>
      <td>{metadata.creationTimestamp && <RelativeTime at={metadata.creationTimestamp} />}</td>
    </tr>
  );
}
