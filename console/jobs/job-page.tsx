/** Page of a DaemonJob: state and actions, the map of its hosts, their results, and the policy of the starts. */
import { Link, useParams } from 'wouter';
import { type DaemonJob, daemonJobFinishedAs, runOf } from '../../shared/kube/daemonjobs/daemonjob-types.js';
import { controllerOf } from '../../shared/kube/objects/meta.js';
import { useLiveList } from '../api/live-list.js';
import controls from '../layout/controls.module.css';
import { ListState } from '../layout/list-state.js';
import { Page } from '../layout/shell/page.js';
import { StatusBadge } from '../layout/status/status-badge.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { imagesText } from '../layout/text/image-text.js';
import { RelativeTime } from '../layout/time/relative-time.js';
import { EventList } from '../pods/event-list.js';
import { RichText } from '../texts/rich-text.js';
import { counted, t } from '../texts/translate.js';
import { JobBar } from './job-bar.js';
import { JobButtons } from './job-buttons.js';
import { Fact, JobStart } from './job-fact.js';
import { JobHosts } from './job-hosts.js';
import classes from './job-page.module.css';
import { JobPolicy } from './job-policy.js';
import { betweenText, jobFailureText, jobStatus, jobsPath } from './job-text.js';
import { JobWaves } from './job-waves.js';
import { actionsOfJob } from './job-writes.js';

export function JobPage() {
  const { namespace = '', name = '' } = useParams();
  const { objects, phase, error } = useLiveList<DaemonJob>(
    `${jobsPath('daemonjobs', namespace)}?fieldSelector=metadata.name%3D${name}`,
  );
  const [job] = objects;
  return (
    <Page title={`${name} – Jobs`}>
      <p>
        <Link href="/jobs">{t('Jobs')}</Link> / {namespace}
      </p>
      {!job && <h1>{name}</h1>}
      <ListState {...{ phase, error }} what={`DaemonJobs of ${namespace}`} isEmpty={!job}>
        <p>
          <RichText
            text="There is no DaemonJob with this name. Its time to live may be over: <to>all jobs</to>"
            parts={{ to: <Link href="/jobs" /> }}
          />
        </p>
      </ListState>
      {job && <JobDetails job={job} />}
    </Page>
  );
}

function JobDetails({ job }: { job: DaemonJob }) {
  const { namespace = '', name, resourceVersion = '' } = job.metadata;
  const path = `${jobsPath('daemonjobs', namespace)}/${name}`;
  return (
    <>
      <div className={classes.head}>
        <div className={controls.row}>
          <h1>{name}</h1>
          <StatusBadge status={jobStatus(job)} />
        </div>
        <JobButtons resource="daemonjobs" {...{ namespace, name }} actions={actionsOfJob(job, Date.now())} />
      </div>
      <JobSummary job={job} />
      <JobWaves job={job} />
      <JobHosts path={path} namespace={namespace} version={resourceVersion} />
      <EventList namespace={namespace} about={`involvedObject.kind=DaemonJob,involvedObject.name=${name}`} />
      <CopyCommand text={`everynode job results ${name} -n ${namespace}`} />
    </>
  );
}

function JobSummary({ job }: { job: DaemonJob }) {
  const { metadata, spec, status } = job;
  const failure = jobFailureText(job);
  const [container] = spec.template.spec.containers;
  const command = [...(container?.command ?? []), ...(container?.args ?? [])].join(' ');
  const owner = controllerOf(metadata);
  const isFinished = daemonJobFinishedAs(job) !== undefined;
  const end = isFinished ? status?.completionTime : new Date().toISOString();
  return (
    <section className={controls.card} aria-label={t('Summary')}>
      <JobBar status={status} isLarge />
      {failure && <p className={controls.problem}>{failure}</p>}
      <dl className={classes.facts}>
        <Fact term="Image">{imagesText(spec.template.spec.containers)}</Fact>
        {command && (
          <Fact term="Command">
            <code>{command}</code>
          </Fact>
        )}
        <Fact term="Started">
          <JobStart job={job} />
        </Fact>
        <Fact term={isFinished ? 'Took' : 'Running for'}>{betweenText(status?.startTime, end) || '–'}</Fact>
        <Fact term="Hosts at once">{String(spec.parallelism ?? '100%')}</Fact>
        {spec.until && (
          <Fact term="Hosts may start until">
            <RelativeTime at={spec.until} />
          </Fact>
        )}
        <Fact term="After a failure">{retryText(spec)}</Fact>
        <Fact term="Hosts may start">
          <JobPolicy job={job} />
        </Fact>
        {runOf(job) > 1 && <Fact term="Run">{String(runOf(job))}</Fact>}
        {owner?.kind === 'CronDaemonJob' && (
          <Fact term="Created by">
            <Link href={`/jobs/scheduled/${metadata.namespace}/${owner.name}`}>{owner.name}</Link>
          </Fact>
        )}
      </dl>
    </section>
  );
}

function retryText({ retry, backoffLimit = 6 }: DaemonJob['spec']): string {
  if (retry === 'AtMostOnce') return t('never again, also not after a power cut');
  return backoffLimit === 0 ? t('no retry') : counted('up to {{count}} more attempts', backoffLimit);
}
