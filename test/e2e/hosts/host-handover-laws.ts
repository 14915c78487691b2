/** Laws of host handovers on real hosts. `two-hosts.test.ts` provides the hosts. */
import assert from 'node:assert/strict';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { Rollout } from '../../../shared/kube/rollouts/rollout-types.js';
import { untilPasses } from '../../harness/basics/wait-until.js';
import type { Kubectl } from '../../harness/clients/kubectl.js';
import { shell } from '../../harness/engines/test-images.js';
import type { TestHost } from '../../harness/hosts/test-hosts.js';

/** Two joined hosts. */
interface Hosts {
  kubectl: Kubectl;
  one: TestHost;
  two: TestHost;
}

type Law = (rule: string, body: (all: Hosts, say: (text: string) => void) => Promise<void>) => void;

const WAITS = 'trap "exit 0" TERM; while :; do sleep 3600 & wait $!; done';
/** Each revision changes its host's firewall, as a network DaemonSet does. */
const ON_HOST = 'chroot /host /usr/sbin/iptables -w';
const HOST_NETWORK = {
  hostNetwork: true,
  volumes: [{ name: 'host', hostPath: { path: '/' } }],
  container: {
    volumeMounts: [{ name: 'host', mountPath: '/host' }],
    securityContext: { capabilities: { add: ['NET_ADMIN', 'NET_RAW'] } },
  },
};

interface Shape {
  hostNetwork?: boolean;
  volumes?: object[];
  container?: object;
}

function manifests(name: string, policy: object, script: string, shape: Shape = {}): string {
  const { container, ...podSpec } = shape;
  const labels = { app: name };
  const containers = [{ name, image: 'app:1', command: shell(script), ...container }];
  const spec = { ...podSpec, terminationGracePeriodSeconds: 2, containers };
  const items = [
    {
      apiVersion: 'fleet.everynode.dev/v1',
      kind: 'RolloutPolicy',
      metadata: { name },
      spec: { selector: { matchLabels: labels }, ...policy },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name, labels },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    },
  ];
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
}

class Governed {
  constructor(
    readonly all: Hosts,
    readonly name: string,
  ) {}

  /** Resolves when the DaemonSet runs on both hosts. */
  async start(policy: object, script: string, shape?: Shape): Promise<void> {
    await this.all.kubectl.ok('apply -f -', manifests(this.name, policy, script, shape));
    await this.all.kubectl.ok(`rollout status ds/${this.name} --timeout=30s`);
  }

  async release(script: string): Promise<void> {
    const path = '/spec/template/spec/containers/0/command';
    const patch = JSON.stringify([{ op: 'replace', path, value: shell(script) }]);
    const { code, stderr } = await this.all.kubectl.run([
      'patch',
      'ds',
      this.name,
      '--type=json',
      '-p',
      patch,
    ]);
    assert.equal(code, 0, stderr);
  }

  async pods(): Promise<Pod[]> {
    return JSON.parse(await this.all.kubectl.ok(`get pods -l app=${this.name} -o json`)).items;
  }

  async rollout(): Promise<Rollout> {
    return JSON.parse(await this.all.kubectl.ok(`get rollout ${this.name} -o json`));
  }

  /** Ids of the DaemonSet's running containers on this host. */
  on(host: TestHost): string[] {
    const ids = host.runEngine('ps', '-q', '--filter', `label=everynode.dev/container=${this.name}`);
    return ids.split('\n').filter((id) => id !== '');
  }

  async remove(): Promise<void> {
    await this.all.kubectl.ok(`delete ds/${this.name} rolloutpolicy/${this.name}`);
    await untilPasses(() => assert.deepEqual([...this.on(this.all.one), ...this.on(this.all.two)], []));
  }
}

const conditionsOf = ({ status }: Pod) =>
  (status?.conditions ?? []).map(({ type, status, reason }) => [type, status, reason].join());

export function hostHandoverTests(law: Law): void {
  law(
    'a broken canary is rolled back by itself, and the service on the other host never stops',
    async (all) => {
      const app = new Governed(all, 'canary');
      const waves = [{ name: 'canary', nodes: 1 }];
      const failureBudget = { maxFailed: 0, action: 'RollBack' };
      await app.start({ waves, failureBudget, confirm: { deadlineSeconds: 60 } }, WAITS);
      const before = new Map([all.one, all.two].map((host) => [host, app.on(host)]));
      await app.release('exit 1');
      await untilPasses(async () => assert.equal((await app.rollout()).status?.phase, 'RolledBack'));
      await untilPasses(() => {
        for (const host of before.keys()) assert.equal(app.on(host).length, 1, host.name);
      });
      const untouched = [...before].filter(([host, ids]) => app.on(host).join() === ids.join());
      assert.equal(untouched.length, 1, 'the other host runs the very same container');
      assert.equal((await app.pods()).length, 2);
      await app.remove();
    },
  );

  law(
    'a release that cuts its host off is reverted by the host alone, even if its agent is killed',
    async (all, say) => {
      const app = new Governed(all, 'firewall');
      const policy = { failureBudget: { maxFailed: 0 }, confirm: { deadlineSeconds: 5 } };
      await app.start(policy, `${ON_HOST} -F OUTPUT; ${WAITS}`, HOST_NETWORK);
      const before = new Map([all.one, all.two].map((host) => [host, app.on(host)]));
      await app.release(`${ON_HOST} -A OUTPUT -p tcp -j DROP; ${WAITS}`);
      const from = performance.now();
      const hosts = [...before.keys()];
      const rules = (host: TestHost) => host.run('iptables', '-w', '-S', 'OUTPUT');
      await untilPasses(() => assert.ok(hosts.some((host) => rules(host).includes('DROP'))));
      const cut = hosts.find((host) => rules(host).includes('DROP'));
      const other = hosts.find((host) => host !== cut);
      assert.ok(cut && other);
      cut.run('systemctl', 'kill', '--kill-who=main', '-s', 'KILL', 'everynode-agent');
      await untilPasses(() => assert.ok(!rules(cut).includes('DROP')), 30_000);
      say(`the way is open again ${Math.round(performance.now() - from)} ms after the release`);
      await untilPasses(async () => {
        const reverted = (await app.pods()).filter((pod) =>
          conditionsOf(pod).includes('fleet.everynode.dev/Reverted,True,LinkLost'),
        );
        assert.deepEqual(
          reverted.map(({ spec }) => spec.nodeName),
          [cut.name],
        );
        assert.equal((await app.rollout()).status?.phase, 'Failed');
      }, 30_000);
      assert.equal((await app.pods()).length, 2, 'one Pod a host');
      assert.equal(app.on(cut).length, 1);
      assert.deepEqual(app.on(other), before.get(other), 'the other host was never touched');
      await app.remove();
    },
  );

  law('a file on a busy host postpones an update, and an operator can override it', async (all) => {
    const app = new Governed(all, 'till');
    await app.start({ updateLock: { maxSeconds: 600 } }, WAITS);
    for (const host of [all.one, all.two]) host.write('/run/everynode/update-lock', 'a sale is under way\n');
    const before = [all.one, all.two].map((host) => app.on(host));
    await app.release(`true; ${WAITS}`);
    const held = 'fleet.everynode.dev/HandoverStarted,False,UpdateLocked';
    await untilPasses(async () => {
      const pods = (await app.pods()).filter((pod) => conditionsOf(pod).includes(held));
      assert.equal(pods.length, 1, 'one at a time');
    });
    assert.deepEqual(
      [all.one, all.two].map((host) => app.on(host)),
      before,
    );
    const reason = 'fleet.everynode.dev/reason=recall';
    await all.kubectl.ok(`annotate rollout till fleet.everynode.dev/override-locks=* ${reason}`);
    await all.kubectl.ok('rollout status ds/till --timeout=30s');
    const events = await all.kubectl.ok('get events --field-selector reason=UpdateLockOverridden');
    assert.match(events, /a sale is under way; overridden by \S+: recall/);
    for (const host of [all.one, all.two]) host.run('rm', '/run/everynode/update-lock');
    await app.remove();
  });
}
