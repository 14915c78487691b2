/** The commands of the getting-started documents, run literally against `up` on a real engine. */
import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { untilPasses } from '../../harness/basics/wait-until.js';
import { kubectlMinor } from '../../harness/clients/kubectl.js';
import type { EngineKind } from '../../harness/engines/test-engines.js';
import { shell } from '../../harness/engines/test-images.js';
import { NODE, TourFixture } from '../../harness/hosts/tour-fixture.js';

const IMAGES = [
  'quay.io/fluentd_elasticsearch/fluentd:v5.0.1',
  'quay.io/fluentd_elasticsearch/fluentd:v5.0.2',
  'nginx:1.27',
  'nginx:1.28',
  'example.com/network-plugin:v1.0',
  'app:1',
];
const FLUENTD = 'fluentd-elasticsearch';
/** The host directory that examples/host-changes/network-plugin.yaml creates. */
const PLUGIN_DIR = '/run/network-plugin';

/** A Pod without an owner that prints a line a second. */
const TALKER = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'talker' },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [
      {
        name: 'main',
        image: 'app:1',
        command: shell('n=0; while :; do n=$((n+1)); echo line $n; sleep 0.2; done'),
      },
    ],
  },
});

function example(name: string): string {
  return resolve('examples', `${name}.yaml`);
}

/** Registers the tour on one engine. The steps build on each other's data. */
export function tour(kind: EngineKind): void {
  describe(`documented commands on ${kind}`, { concurrency: 1 }, () => {
    let fixture: TourFixture | string;
    let foreign = '';
    const pluginDirWasThere = existsSync(PLUGIN_DIR);

    before(async () => {
      fixture = await TourFixture.open(kind, { images: IMAGES });
      if (typeof fixture !== 'string') foreign = await fixture.containers.run(IMAGES[5] ?? '');
    });
    after(async () => {
      if (typeof fixture !== 'string') await fixture.close();
      if (!pluginDirWasThere) rmSync(PLUGIN_DIR, { recursive: true, force: true });
    });

    const step = (rule: string, body: (fixture: TourFixture) => Promise<void>): void => {
      test(rule, async (context) => {
        if (typeof fixture === 'string') leaveOut(context, `the tour on ${kind}`, fixture);
        else await body(fixture);
      });
    };
    /** The only running container of the DaemonSet's only Pod. Fails if there are more Pods or containers. */
    const only = async (fixture: TourFixture, daemonSet: string) => {
      const found = await fixture.containers.ofPods(`${daemonSet}-`);
      assert.deepEqual(
        found.map(({ state }) => state),
        ['running'],
        `containers of ${daemonSet}`,
      );
      const [container] = found;
      assert.ok(container);
      return container;
    };
    const runsOnce = (fixture: TourFixture, daemonSet: string) =>
      untilPasses(async () => void (await only(fixture, daemonSet)));
    const isGone = (fixture: TourFixture, daemonSet: string) =>
      untilPasses(async () => assert.deepEqual(await fixture.containers.ofPods(`${daemonSet}-`), []));
    const rolledOut = async ({ kubectl }: TourFixture, daemonSet: string) =>
      assert.match(await kubectl.ok(`rollout status ${daemonSet} --timeout=30s`), /successfully rolled out/);

    step('the unchanged examples start real containers', async (fixture) => {
      const { kubectl } = fixture;
      assert.equal(await kubectl.ok(`apply -f ${example(FLUENTD)}`), `daemonset.apps/${FLUENTD} created`);
      await kubectl.ok(`apply -f ${example('host-changes/network-plugin')}`);
      await kubectl.ok(`apply -f ${example('color-affinity')}`);
      await runsOnce(fixture, FLUENTD);
      await runsOnce(fixture, 'network-plugin');
      await rolledOut(fixture, `ds/${FLUENTD} -n kube-system`);
      await rolledOut(fixture, 'ds/network-plugin -n kube-system');
      await isGone(fixture, 'nginx');
    });

    step("get pod -l, get pods -o wide and get ds list the example's Pods", async (fixture) => {
      const { kubectl } = fixture;
      const byLabel = await kubectl.ok(`get pod -n kube-system -l name=${FLUENTD}`);
      assert.match(
        byLabel,
        /^NAME +READY +STATUS +RESTARTS +AGE\nfluentd-elasticsearch-\w{5} +1\/1 +Running +0 +\d+s$/,
      );
      const wide = await kubectl.ok('get pods -o wide -n kube-system');
      assert.match(
        wide,
        /fluentd-elasticsearch-\w{5} +1\/1 +Running +0 +\d+s +[\d.]+ +master +<none> +<none>/,
      );
      const set = await kubectl.ok(`get ds -n kube-system ${FLUENTD}`);
      assert.match(set, /\nfluentd-elasticsearch +1 +1 +1 +1 +1 +<none> +\d+s$/);
      assert.match(await kubectl.ok('get nodes'), /^NAME .*\nmaster +Ready +<none> +\d+m?\d*s +v/);
    });

    step('a node label starts the Pod and its container, and its removal stops them', async (fixture) => {
      const { kubectl } = fixture;
      assert.equal(await kubectl.ok('label nodes master color=green'), 'node/master labeled');
      await rolledOut(fixture, 'ds/nginx');
      await runsOnce(fixture, 'nginx');
      assert.match(await kubectl.ok('get pods -o wide'), /nginx-\w{5} +1\/1 +Running .* master /);
      await kubectl.ok('label nodes master color-');
      await isGone(fixture, 'nginx');
      // The host reports the end of the Pod only after it has removed the Pod's containers and volumes.
      await untilPasses(async () => assert.equal(await kubectl.ok('get pods'), ''));
      await kubectl.ok('label nodes master color=green');
      await rolledOut(fixture, 'ds/nginx');
    });

    step('a NoSchedule taint keeps the Pod, a NoExecute taint removes it', async (fixture) => {
      const { kubectl } = fixture;
      const { id } = await only(fixture, 'nginx');
      await kubectl.ok('taint nodes master key=value:NoSchedule');
      assert.equal((await only(fixture, 'nginx')).id, id);
      await kubectl.ok('taint nodes master key=value:NoSchedule-');
      await kubectl.ok('taint nodes master key=value:NoExecute');
      await isGone(fixture, 'nginx');
      await kubectl.ok('taint nodes master key:NoExecute-');
      await rolledOut(fixture, 'ds/nginx');
      await runsOnce(fixture, 'nginx');
    });

    step('drain refuses DaemonSet Pods, skips them with its flag, and removes bare Pods', async (fixture) => {
      const { kubectl } = fixture;
      await kubectl.ok('apply -f -', TALKER);
      await kubectl.ok('wait pod/talker --for=condition=Ready --timeout=30s');
      assert.equal(await kubectl.ok('cordon master'), 'node/master cordoned');
      assert.match(await kubectl.ok('get nodes'), /master +Ready,SchedulingDisabled/);
      const refused = await kubectl.run(['drain', NODE, '--force']);
      assert.equal(refused.code, 1);
      assert.match(
        refused.stderr,
        /cannot delete DaemonSet-managed Pods \(use --ignore-daemonsets to ignore\)/,
      );
      const { id } = await only(fixture, 'nginx');
      assert.match(await kubectl.ok('drain master --ignore-daemonsets --force'), /node\/master drained$/);
      assert.deepEqual(await fixture.containers.ofPods('talker'), []);
      assert.equal((await only(fixture, 'nginx')).id, id);
      assert.equal(await kubectl.ok('uncordon master'), 'node/master uncordoned');
    });

    step(
      'set image --record, rollout status, history and undo change and report the revision',
      async (fixture) => {
        const { kubectl } = fixture;
        const set = await kubectl.ok('set image ds/nginx nginx=nginx:1.28 --record');
        assert.equal(set, 'daemonset.apps/nginx image updated');
        await rolledOut(fixture, 'ds/nginx');
        assert.match((await only(fixture, 'nginx')).image, /nginx:1\.28$/);
        const history = await kubectl.ok('rollout history ds/nginx');
        assert.match(
          history,
          /\n1 +<none>\n2 +kubectl\S* set image ds\/nginx nginx=nginx:1\.28 --record=true/,
        );
        assert.match(await kubectl.ok('rollout history ds/nginx --revision=2'), /Image:\s+nginx:1\.28/);
        const undone = await kubectl.ok('rollout undo ds/nginx --to-revision=1');
        assert.equal(undone, 'daemonset.apps/nginx rolled back');
        await rolledOut(fixture, 'ds/nginx');
        assert.match((await only(fixture, 'nginx')).image, /nginx:1\.27$/);
        assert.match(await kubectl.ok('rollout history ds/nginx'), /REVISION.*\n2 .*\n3 /);
      },
    );

    step('rollout restart creates a new container', async (fixture) => {
      const { id } = await only(fixture, 'nginx');
      assert.equal(await fixture.kubectl.ok('rollout restart ds/nginx'), 'daemonset.apps/nginx restarted');
      await rolledOut(fixture, 'ds/nginx');
      assert.notEqual((await only(fixture, 'nginx')).id, id);
    });

    step('get and describe print controller revisions', async ({ kubectl }) => {
      const revisions = await kubectl.ok('get controllerrevision -l app=nginx');
      assert.match(
        revisions,
        /^NAME +CONTROLLER +REVISION +AGE\n(nginx-\w+ +daemonset\.apps\/nginx +[234] +\S+\n?){3}$/,
      );
      const name = revisions.split('\n')[1]?.split(' ')[0] ?? '';
      assert.match(await kubectl.ok(`describe controllerrevision ${name}`), /Image: +nginx:1\.2\d/);
    });

    step('describe prints a node, a Pod and a DaemonSet', async ({ kubectl }) => {
      const node = await kubectl.ok('describe node master');
      assert.match(node, /color=green/);
      assert.match(node, /Ready +True .*KubeletReady/);
      assert.match(node, /kube-system +fluentd-elasticsearch-\w{5} +100m \(\d+%\) +0 \(0%\) +200Mi/);
      const pod = await kubectl.ok('describe pod -l app=nginx');
      assert.match(pod, /Controlled By: +DaemonSet\/nginx/);
      assert.match(pod, /PodScheduled +True/);
      assert.match(pod, /Normal +Started .*Started container nginx/);
      const set = await kubectl.ok('describe ds nginx');
      assert.match(set, /Number of Nodes Scheduled with Available Pods: 1/);
      assert.match(set, /Normal +SuccessfulCreate .*daemonset-controller +Created pod: nginx-/);
    });

    step("logs prints a container's log, and logs -f follows it", async ({ kubectl }) => {
      await kubectl.ok('apply -f -', TALKER);
      await kubectl.ok('wait pod/talker --for=condition=Ready --timeout=30s');
      const following = kubectl.ok('logs -f talker');
      await untilPasses(async () => assert.match(await kubectl.ok('logs talker'), /^line 1\nline 2/));
      assert.match(await kubectl.ok('logs talker --tail=1'), /^line \d+$/);
      await kubectl.ok('delete pod talker');
      const lines = (await following).split('\n');
      assert.deepEqual(
        lines,
        lines.map((_, index) => `line ${index + 1}`),
      );
    });

    step('Pods that --cascade=orphan leaves keep running and are adopted again', async (fixture) => {
      const { kubectl } = fixture;
      const { id } = await only(fixture, 'nginx');
      await kubectl.ok('rollout undo ds/nginx');
      await rolledOut(fixture, 'ds/nginx');
      const orphan = await only(fixture, 'nginx');
      assert.notEqual(orphan.id, id);
      await kubectl.ok('delete daemonset nginx --cascade=orphan');
      const owners = 'get pods -l app=nginx -o jsonpath={.items[*].metadata.ownerReferences}';
      await untilPasses(async () => assert.equal(await kubectl.ok(owners), ''));
      await kubectl.ok(`apply -f ${example('color-affinity')}`);
      await untilPasses(async () => assert.match(await kubectl.ok(owners), /"kind":"DaemonSet"/));
      await rolledOut(fixture, 'ds/nginx');
      assert.equal((await only(fixture, 'nginx')).id, orphan.id);
    });

    step('delete daemonset removes the Pods and their containers', async (fixture) => {
      assert.match(await fixture.kubectl.ok('delete daemonset nginx'), /^daemonset\.apps "nginx" deleted/);
      await isGone(fixture, 'nginx');
      await untilPasses(async () => assert.equal(await fixture.kubectl.ok('get pods'), ''));
      assert.equal(await fixture.kubectl.ok('get controllerrevision'), '');
    });

    step('an older kubectl runs the documented commands too', async (fixture) => {
      if (kubectlMinor('kubectl') === undefined) return;
      const kubectl = fixture.newKubectl('kubectl');
      try {
        await kubectl.ok(`apply -f ${example('color-affinity')}`);
        await rolledOut(fixture, 'ds/nginx');
        await kubectl.ok('set image ds/nginx nginx=nginx:1.28');
        await kubectl.ok('rollout status ds/nginx --timeout=30s');
        await kubectl.ok('rollout undo ds/nginx --to-revision=1');
        await kubectl.ok('rollout status ds/nginx --timeout=30s');
        assert.match(await kubectl.ok('describe ds nginx'), /Image: +nginx:1\.27/);
        assert.match(await kubectl.ok('drain master --ignore-daemonsets'), /drained$/);
        await kubectl.ok('uncordon master');
        await kubectl.ok('delete ds nginx');
        await isGone(fixture, 'nginx');
      } finally {
        kubectl.remove();
      }
    });

    step('delete node removes its Pods, and a new up registers it and starts them again', async (fixture) => {
      assert.match(await fixture.kubectl.ok('delete node master'), /^node "master" deleted/);
      await isGone(fixture, FLUENTD);
      await fixture.up.end('SIGINT');
      await fixture.startUp();
      await runsOnce(fixture, FLUENTD);
      await runsOnce(fixture, 'network-plugin');
    });

    step('a container of another user is unchanged after all documented commands', async ({ containers }) => {
      const found = (await containers.all()).find(({ id }) => id === foreign);
      assert.equal(found?.state, 'running');
    });
  });
}
