/** Assertions of test/e2e/apps: DaemonSets, ControllerRevisions, Jobs and CronJobs. */
import { daemonSet, type UpstreamCase } from './upstream-case.js';

const DAEMON_SET = 'apps/daemon_set.go';
const READY: RegExp = /successfully rolled out/;
const JOB_TEMPLATE = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'app:1' }] } };
const JOB = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'job' },
  spec: { template: JOB_TEMPLATE },
};
const CRON_JOB = {
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name: 'cron' },
  spec: { schedule: '0 0 1 1 *', jobTemplate: { spec: { template: JOB_TEMPLATE } } },
};

export const APPS_CASES: readonly UpstreamCase[] = [
  {
    title: '[sig-apps] Daemon set [Serial] should run and stop simple daemon',
    file: DAEMON_SET,
    steps: [
      ['create -f -', /created/, daemonSet('simple', 'app:1')],
      ['rollout status ds/simple --timeout=60s', READY],
      ['get ds simple -o jsonpath={.status.numberReady}', /^2$/],
      ['delete pod -l app=simple --wait=false --field-selector=spec.nodeName=n1', /deleted/],
      ['rollout status ds/simple --timeout=60s', READY],
      ['~get ds simple -o jsonpath={.status.numberReady}', /^2$/],
      ['delete ds simple --timeout=60s', /deleted/],
      ['~get pods -o name', /^$/],
    ],
  },
  {
    title: '[sig-apps] Daemon set [Serial] should run and stop complex daemon',
    file: DAEMON_SET,
    steps: [
      ['create -f -', /created/, daemonSet('complex', 'app:1', { color: 'blue' })],
      ['~get ds complex -o jsonpath={.status.observedGeneration},{.status.desiredNumberScheduled}', /^1,0$/],
      ['label node n1 color=blue', /labeled/],
      ['~get pods -o jsonpath={.items[*].spec.nodeName}', /^n1$/],
      ['label node n1 color=green --overwrite', /labeled/],
      ['~get pods -o name', /^$/],
      [
        'patch ds complex --type=merge -p {"spec":{"template":{"spec":{"nodeSelector":{"color":"green"}}}}}',
        /patched/,
      ],
      ['~get pods -o jsonpath={.items[*].spec.nodeName}', /^n1$/],
      ['label node n1 color-', /unlabeled/],
    ],
  },
  {
    title: '[sig-apps] Daemon set [Serial] should retry creating failed daemon pods',
    file: DAEMON_SET,
    steps: [
      ['create -f -', /created/, daemonSet('failed', 'app:1')],
      ['rollout status ds/failed --timeout=60s', READY],
      ['get pods --field-selector=spec.nodeName=n1 -o jsonpath={.items[0].metadata.name}', /^(failed-\w+)$/],
      ['patch pod LAST --subresource=status -p {"status":{"phase":"Failed"}}', /patched/],
      ['~get pods --field-selector=status.phase=Running -o name', /pod\S+\s+pod\S+/],
    ],
  },
  {
    title:
      '[sig-apps] Daemon set [Serial] should update pod when spec was updated and update strategy is RollingUpdate',
    file: DAEMON_SET,
    steps: [
      ['create -f -', /created/, daemonSet('rolling', 'app:1')],
      ['rollout status ds/rolling --timeout=60s', READY],
      ['set image ds/rolling main=app:2', /image updated/],
      ['rollout status ds/rolling --timeout=60s', READY],
      ['~get pods -o jsonpath={.items[*].spec.containers[0].image}', /^app:2 app:2$/],
      ['get controllerrevisions -o jsonpath={.items[*].revision}', /^(1 2|2 1)$/],
    ],
  },
  {
    title: '[sig-apps] Daemon set [Serial] should rollback without unnecessary restarts',
    file: DAEMON_SET,
    steps: [
      ['create -f -', /created/, daemonSet('rollback', 'app:1')],
      ['rollout status ds/rollback --timeout=60s', READY],
      ['set image ds/rollback main=app:2', /image updated/],
      ['rollout undo ds/rollback', /rolled back/],
      ['rollout status ds/rollback --timeout=60s', READY],
      ['get ds rollback -o jsonpath={.spec.template.spec.containers[0].image}', /^app:1$/],
      ['~get pods -o jsonpath={.items[*].status.containerStatuses[0].restartCount}', /^0 0$/],
    ],
  },
  {
    title: '[sig-apps] Daemon set [Serial] should list and delete a collection of DaemonSets',
    file: DAEMON_SET,
    steps: [
      ['create -f -', /created/, daemonSet('collection', 'app:1')],
      ['rollout status ds/collection --timeout=60s', READY],
      ['get ds -A -l app=collection -o name', /^daemonset.apps\/collection$/],
      ['delete ds -l app=collection --timeout=60s', /deleted/],
      ['get ds -A -l app=collection', /No resources found/],
    ],
  },
  {
    title: '[sig-apps] Daemon set [Serial] should verify changes to a daemon set status',
    file: DAEMON_SET,
    steps: [
      ['create -f -', /created/, daemonSet('status', 'app:1')],
      ['rollout status ds/status --timeout=60s', READY],
      ['get ds status --subresource=status -o jsonpath={.status.numberReady}', /^2$/],
      [
        'patch ds status --subresource=status --type=merge -p {"status":{"conditions":[{"type":"StatusPatched","status":"True"}]}}',
        /patched/,
      ],
      ['get ds status -o jsonpath={.status.conditions[*].type}', /StatusPatched/],
    ],
  },
  {
    title: '[sig-apps] ControllerRevision [Serial] should manage the lifecycle of a ControllerRevision',
    file: 'apps/controller_revision.go',
    steps: [
      ['create -f -', /created/, daemonSet('revisions', 'app:1')],
      ['rollout status ds/revisions --timeout=60s', READY],
      ['get controllerrevisions -A -l app=revisions -o name', /^controllerrevision\S+$/],
      ['label controllerrevisions -l app=revisions revisions=patched', /labeled/],
      [
        'create -f -',
        /created/,
        {
          apiVersion: 'apps/v1',
          kind: 'ControllerRevision',
          metadata: { name: 'own' },
          revision: 3,
          data: {},
        },
      ],
      ['get controllerrevision own -o jsonpath={.revision}', /^3$/],
      ['delete controllerrevision own', /deleted/],
      ['!get controllerrevision own', /NotFound/],
    ],
  },
  {
    title: '[sig-apps] Job should delete a job',
    file: 'apps/job.go',
    needs: ['jobs.batch'],
    steps: [
      ['create -f -', /created/, JOB],
      ['~get pods -l batch.kubernetes.io/job-name=job -o name', /^pod\S+$/],
      ['delete job job --timeout=60s', /deleted/],
      ['~get pods -l batch.kubernetes.io/job-name=job -o name', /^$/],
    ],
  },
  {
    title: '[sig-apps] CronJob should support CronJob API operations',
    file: 'apps/cronjob.go',
    needs: ['cronjobs.batch'],
    steps: [
      ['create -f -', /created/, CRON_JOB],
      ['get cronjobs -A -o name', /cronjob.batch\/cron/],
      ['patch cronjob cron -p {"metadata":{"annotations":{"patched":"true"}}}', /patched/],
      ['get cronjob cron --subresource=status -o name', /cron/],
      ['delete cronjobs --all', /deleted/],
      ['!get cronjob cron', /NotFound/],
    ],
  },
];
