/** Page of a CronDaemonJob: schedule, actions, and the jobs that it has created. */
import { Link, useParams } from 'wouter';
import type { CronDaemonJob } from '../../shared/kube/daemonjobs/cron-daemonjob-types.js';
import type { DaemonJob } from '../../shared/kube/daemonjobs/daemonjob-types.js';
import { controllerOf } from '../../shared/kube/objects/meta.js';
import { useLiveList } from '../api/live-list.js';
import controls from '../layout/controls.module.css';
import { ListState } from '../layout/list-state.js';
import { ListTable } from '../layout/list-table.js';
import { Page } from '../layout/shell/page.js';
import { StatusBadge } from '../layout/status/status-badge.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { imagesText } from '../layout/text/image-text.js';
import { RelativeTime } from '../layout/time/relative-time.js';
import { EventList } from '../pods/event-list.js';
import { RichText } from '../texts/rich-text.js';
import { t } from '../texts/translate.js';
import { nextRunOf } from './cron-job-table.js';
import { JobBar } from './job-bar.js';
import { JobButtons } from './job-buttons.js';
import { Fact, JobStart } from './job-fact.js';
import classes from './job-page.module.css';
import { CRON_JOBS, cronStatus, jobStatus, jobsPath } from './job-text.js';
import { actionsOfCronJob } from './job-writes.js';

const COLUMNS = ['Run', 'State', 'Hosts', 'Started'] as const;

export function CronJobPage() {
  const { namespace = '', name = '' } = useParams();
  const { objects, phase, error } = useLiveList<CronDaemonJob>(
    `${jobsPath(CRON_JOBS, namespace)}?fieldSelector=metadata.name%3D${name}`,
  );
  const [cron] = objects;
  return (
    <Page title={`${name} – Jobs`}>
      <p>
        <Link href="/jobs">{t('Jobs')}</Link> / {namespace}
      </p>
      <div className={classes.head}>
        <div className={controls.row}>
          <h1>{name}</h1>
          {cron && <StatusBadge status={cronStatus(cron)} />}
        </div>
        {cron && (
          <JobButtons resource={CRON_JOBS} {...{ namespace, name }} actions={actionsOfCronJob(cron)} />
        )}
      </div>
      <ListState {...{ phase, error }} what={`CronDaemonJobs of ${namespace}`} isEmpty={!cron}>
        <p>
          <RichText
            text="There is no CronDaemonJob with this name: <to>all jobs</to>"
            parts={{ to: <Link href="/jobs" /> }}
          />
        </p>
      </ListState>
      {cron && (
        <>
          <Schedule cron={cron} />
          <Runs cron={cron} />
          <EventList
            namespace={namespace}
            about={`involvedObject.kind=CronDaemonJob,involvedObject.name=${name}`}
          />
          <CopyCommand text={`kubectl -n ${namespace} describe crondaemonjob ${name}`} />
        </>
      )}
    </Page>
  );
}

function Schedule({ cron }: { cron: CronDaemonJob }) {
  const { spec, status } = cron;
  const { concurrencyPolicy = 'Allow', jobTemplate } = spec;
  return (
    <section className={controls.card} aria-label={t('Schedule')}>
      <dl className={classes.facts}>
        <Fact term="Schedule">
          <code>{spec.schedule}</code>
        </Fact>
        <Fact term="Time zone">{spec.timeZone ?? t('that of each host')}</Fact>
        <Fact term="Next run">{nextRunOf(cron)}</Fact>
        <Fact term="Last run">
          {status?.lastScheduleTime ? <RelativeTime at={status.lastScheduleTime} /> : 'never'}
        </Fact>
        <Fact term="If the last run has not ended">
          {CONCURRENCY[concurrencyPolicy] ?? concurrencyPolicy}
        </Fact>
        <Fact term="Image">{imagesText(jobTemplate.spec.template.spec.containers)}</Fact>
      </dl>
    </section>
  );
}

const CONCURRENCY: Readonly<Record<string, string>> = {
  Allow: 'both run',
  Forbid: 'the host skips the new run',
  Replace: 'the host ends the old run',
};

/** The jobs that the CronDaemonJob owns, newest first. It keeps only a few. */
function Runs({ cron }: { cron: CronDaemonJob }) {
  const { namespace = '', uid } = cron.metadata;
  const { objects, phase, error } = useLiveList<DaemonJob>(jobsPath('daemonjobs', namespace));
  const runs = objects
    .filter(({ metadata }) => controllerOf(metadata)?.uid === uid)
    .sort((a, b) => ((a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? 1 : -1));
  return (
    <>
      <ListState {...{ phase, error }} what="runs" isEmpty={runs.length === 0}>
        <p>
          {t('No run yet. The first one appears here before it starts, so that hosts receive it in time.')}
        </p>
      </ListState>
      {runs.length > 0 && (
        <ListTable label="Runs" columns={COLUMNS}>
          {runs.map((job) => (
            <tr key={job.metadata.uid}>
              <th scope="row">
                <Link href={`/jobs/${namespace}/${job.metadata.name}`}>{job.metadata.name}</Link>
              </th>
              <td>
                <StatusBadge status={jobStatus(job)} />
              </td>
              <td>
                <JobBar status={job.status} />
              </td>
              <td>
                <JobStart job={job} />
              </td>
            </tr>
          ))}
        </ListTable>
      )}
    </>
  );
}
