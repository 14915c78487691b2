/**
 * Two machines with systemd, one with Docker and one with Podman: join, follow labels and taints, reboot, fail,
 * reconnect.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { untilPasses } from '../../harness/basics/wait-until.js';
import type { TestHost } from '../../harness/hosts/test-hosts.js';
import { containersOf, GRACE_MS, INSTALL_COMMAND, TwoHosts } from '../../harness/hosts/two-hosts-fixture.js';
import { tokenInLine } from '../../harness/hub/join-line.js';
import { AMPLE_HOST_ARGS } from '../../harness/pods/ample-host.js';
import { hostHandoverTests } from './host-handover-laws.js';

const UNIT = '/etc/systemd/system/everynode-agent.service';
const AGENT_DATA = '/var/lib/everynode-agent';
/** The grace period, one poll of the node controller, and some time for a busy machine. */
const SILENCE_MS = 40_000;
/** The requirement: a rebooted host's Pods run again within this time after its engine's start. */
const RETURN_MS = 5_000;

const daemonSet = (name: string, nodeSelector: Record<string, string> = {}): string =>
  JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name },
    spec: {
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        // The container has the DaemonSet's name, so that the test can find it in the engine.
        spec: { nodeSelector, terminationGracePeriodSeconds: 5, containers: [{ name, image: 'app:1' }] },
      },
    },
  });

/** The token with the hash of another authority. */
const wrong = (token: string): string => token.replace(/[0-9a-f]{64}$/, '0'.repeat(64));

const runsOn = (host: TestHost, name: string) =>
  assert.equal(containersOf(host, name).length, 1, `${name} on ${host.name}`);
const isReady = (node: Node) => node.status?.conditions?.find(({ type }) => type === 'Ready')?.status;

describe('two hosts', { concurrency: 1 }, () => {
  let opened: TwoHosts | string;

  before(async () => {
    opened = await TwoHosts.open();
  });
  after(async () => {
    if (typeof opened !== 'string') await opened.close();
  });

  const law = (rule: string, body: (all: TwoHosts, say: (text: string) => void) => Promise<void>): void => {
    test(rule, async (context) => {
      if (typeof opened === 'string') leaveOut(context, 'two hosts with systemd', opened);
      else await body(opened, (text) => context.diagnostic(text));
    });
  };

  law('one command joins a host as a service that is ready when the command ends', async (all) => {
    const line = await all.joinLine();
    const token = tokenInLine(line);
    const install = (text: string) => {
      const typed = line.replace(token, text).replace('everynode-agent', INSTALL_COMMAND.join(' '));
      return all.one.run('sh', '-c', `${typed} --labels site=a,rack=1`);
    };
    assert.throws(() => install(wrong(token)), /certificate authority/);
    install(token);
    assert.equal(all.one.run('systemctl', 'is-active', 'everynode-agent'), 'active');
    assert.equal(all.one.run('systemd-analyze', 'verify', UNIT), '');
    assert.doesNotMatch(all.one.run('grep', '-r', '', '/etc/everynode'), new RegExp(token.slice(0, 20)));
    await untilPasses(async () => assert.match(await all.kubectl.ok('get nodes'), /\none +Ready/));
    await all.kubectl.ok('apply -f -', daemonSet('app'));
    await untilPasses(() => runsOn(all.one, 'app'));
  });

  law(
    'repeating the install changes nothing, and a reload applies a changed settings file only if it is valid',
    async (all) => {
      const before = containersOf(all.one, 'app');
      all.one.run(...INSTALL_COMMAND);
      const pid = all.one.run('systemctl', 'show', '-p', 'MainPID', 'everynode-agent');
      await all.kubectl.ok('label node one mine=yes rack=2 --overwrite');
      all.one.run('sed', '-i', 's/site=a,rack=1/site=b/', '/etc/everynode/agent.yaml');
      all.one.run('systemctl', 'reload', 'everynode-agent');
      await untilPasses(async () => assert.equal((await all.node('one')).metadata.labels?.site, 'b'));
      const { labels } = (await all.node('one')).metadata;
      assert.deepEqual([labels?.mine, labels?.rack], ['yes', '2'], "the user's own labels");
      all.one.run('sed', '-i', '$alogLevel: loud', '/etc/everynode/agent.yaml');
      all.one.run('systemctl', 'reload', 'everynode-agent');
      await untilPasses(() =>
        assert.match(all.one.run('journalctl', '-u', 'everynode-agent'), /settings are invalid/),
      );
      all.one.run('sed', '-i', '/logLevel/d', '/etc/everynode/agent.yaml');
      assert.equal(all.one.run('systemctl', 'show', '-p', 'MainPID', 'everynode-agent'), pid);
      assert.deepEqual(containersOf(all.one, 'app'), before);
    },
  );

  law('a second host joins by the printed command and gets its Pod', async (all) => {
    const line = await all.joinLine();
    assert.match(line, /^echo \S+ \| everynode-agent --server https:\/\/[\d.]+:\d+ --token-file -$/);
    all.two.runDetached('env', ...AMPLE_HOST_ARGS, 'sh', '-c', line);
    await untilPasses(() => runsOn(all.two, 'app'));
    await untilPasses(async () => {
      const nodes = await all.kubectl.ok('get nodes -o wide');
      assert.match(nodes, /\none +Ready .*docker:\/\//);
      assert.match(nodes, /\ntwo +Ready .*podman:\/\//);
    });
    await all.kubectl.ok('rollout status ds/app --timeout=30s');
  });

  law('a host that joined manually becomes a service without a token', async (all) => {
    const before = containersOf(all.two, 'app');
    const server = /--server (\S+)/.exec(await all.joinLine())?.[1];
    all.two.run('pkill', '-TERM', '-f', 'dist/agent/everynode-agent.cjs');
    all.two.run(...INSTALL_COMMAND, '--server', server ?? '');
    await all.kubectl.ok('label node two hand=no');
    await all.kubectl.ok('apply -f -', daemonSet('by-service', { hand: 'no' }));
    await untilPasses(() => runsOn(all.two, 'by-service'));
    assert.deepEqual(containersOf(all.two, 'app'), before);
    await all.kubectl.ok('delete ds by-service');
    await untilPasses(() => assert.deepEqual(containersOf(all.two, 'by-service'), []));
  });

  law('labels and taints move the Pods between hosts', async (all) => {
    const { kubectl, one, two } = all;
    await kubectl.ok('apply -f -', daemonSet('picky', { color: 'green' }));
    await kubectl.ok('label node one color=green');
    await untilPasses(() => runsOn(one, 'picky'));
    await kubectl.ok('label node two color=green');
    await kubectl.ok('label node one color-');
    await untilPasses(() => runsOn(two, 'picky'));
    await untilPasses(() => assert.deepEqual(containersOf(one, 'picky'), []));
    await kubectl.ok('taint node two key=value:NoExecute');
    await untilPasses(() =>
      assert.deepEqual([...containersOf(two, 'picky'), ...containersOf(two, 'app')], []),
    );
    await kubectl.ok('taint node two key:NoExecute-');
    await untilPasses(() => runsOn(two, 'app'));
    await kubectl.ok('delete ds picky');
    await untilPasses(() => assert.deepEqual(containersOf(two, 'picky'), []));
  });

  for (const signal of ['TERM', 'KILL']) {
    law(`an agent service that ends by ${signal} changes no container`, async ({ one, two, kubectl }) => {
      for (const host of [one, two]) {
        const before = containersOf(host, 'app');
        const verb = signal === 'TERM' ? ['stop'] : ['kill', '--kill-who=main', '-s', signal];
        host.run('systemctl', ...verb, 'everynode-agent');
        assert.deepEqual(containersOf(host, 'app'), before);
        host.run('systemctl', 'start', 'everynode-agent');
        await untilPasses(async () =>
          assert.match(await kubectl.ok('get nodes'), new RegExp(`\\n?${host.name} +Ready`)),
        );
        assert.deepEqual(containersOf(host, 'app'), before);
      }
    });
  }

  law('a rebooted host has its Pods back within 5 s without a coordinator', async (all, say) => {
    await all.stopCoordinator();
    for (const host of [all.one, all.two]) {
      await host.reboot();
      const from = performance.now();
      await untilPasses(() => runsOn(host, 'app'), RETURN_MS);
      say(`${host.engine}: back ${Math.round(performance.now() - from)} ms after the boot`);
    }
  });

  law('a host without any network has its Pods back within 5 s after a power cut', async (all, say) => {
    for (const host of [all.one, all.two]) {
      host.cutPower();
      host.disconnect();
      await host.restorePower();
      const from = performance.now();
      assert.equal(host.run('sh', '-c', 'ip route show default'), '');
      await untilPasses(() => runsOn(host, 'app'), RETURN_MS);
      say(`${host.engine}: back ${Math.round(performance.now() - from)} ms after the boot`);
      host.connect();
    }
    await all.startCoordinator();
    await all.kubectl.ok('rollout status ds/app --timeout=60s');
    const pods = await all.kubectl.ok('get pods -o name');
    assert.equal(pods.split('\n').length, 2);
    for (const host of [all.one, all.two]) runsOn(host, 'app');
    // A Lease exists after the node has reported since the coordinator's start.
    await untilPasses(async () => {
      const leases = await all.kubectl.ok('get leases -n kube-node-lease -o name');
      assert.equal(leases.split('\n').length, 2);
    });
  });

  hostHandoverTests(law);

  law(
    'a disconnected host becomes NotReady and unreachable while its container keeps running',
    async (all, say) => {
      const before = containersOf(all.one, 'app');
      await untilPasses(async () => assert.equal(isReady(await all.node('one')), 'True'));
      all.one.disconnect();
      const from = performance.now();
      await untilPasses(async () => assert.equal(isReady(await all.node('one')), 'Unknown'), SILENCE_MS);
      say(`Unknown after ${Math.round(performance.now() - from)} ms, grace ${GRACE_MS} ms`);
      await untilPasses(async () => {
        const taints = ((await all.node('one')).spec?.taints ?? []).map(
          ({ key, effect }) => `${key}:${effect}`,
        );
        const unreachable = 'node.kubernetes.io/unreachable';
        assert.deepEqual(taints.sort(), [`${unreachable}:NoExecute`, `${unreachable}:NoSchedule`]);
      });
      assert.match(await all.kubectl.ok('get nodes'), /\none +NotReady/);
      assert.deepEqual(containersOf(all.one, 'app'), before);
    },
  );

  law('a disconnected host becomes Ready again after its reconnect', async (all) => {
    const before = containersOf(all.one, 'app');
    all.one.connect();
    const isNormal = async () => {
      const node = await all.node('one');
      assert.equal(isReady(node), 'True');
      assert.deepEqual(node.spec?.taints ?? [], []);
    };
    await untilPasses(isNormal, 60_000);
    await all.kubectl.ok('rollout status ds/app --timeout=30s');
    assert.deepEqual(containersOf(all.one, 'app'), before);
  });

  law(
    'an agent on a read-only disk runs its stored Pods, and restarts once the disk is writable',
    async ({ one }) => {
      const shell = (script: string) => one.run('sh', '-ec', script);
      const agentPid = () => one.run('systemctl', 'show', '-p', 'MainPID', '--value', 'everynode-agent');
      shell(`systemctl stop everynode-agent; cp -a ${AGENT_DATA} /run/kept; mount -t tmpfs -o mode=700 tmpfs ${AGENT_DATA}
        cp -a /run/kept/. ${AGENT_DATA}; mount -o remount,ro ${AGENT_DATA}`);
      one.runEngine('kill', ...containersOf(one, 'app'));
      one.run('systemctl', 'start', 'everynode-agent');
      const readOnly = agentPid();
      await untilPasses(() => runsOn(one, 'app'));
      assert.equal(agentPid(), readOnly);
      shell(`mount -o remount,rw ${AGENT_DATA}`);
      await untilPasses(() => {
        assert.notEqual(agentPid(), readOnly);
        assert.notEqual(shell(`find ${AGENT_DATA}/running -newer ${AGENT_DATA}/identity.json`), '');
      }, 60_000);
      runsOn(one, 'app');
      shell(`systemctl stop everynode-agent; rm -rf /run/kept; cp -a ${AGENT_DATA} /run/kept; umount ${AGENT_DATA}
        cp -a /run/kept/. ${AGENT_DATA}; systemctl start everynode-agent`);
      await untilPasses(() => runsOn(one, 'app'));
    },
  );

  law('uninstall refuses while Pods run, and leaves the host as it was before', async ({ one, two }) => {
    assert.throws(() => one.run('everynode-agent', 'uninstall'), /1 pod runs on this host/);
    runsOn(one, 'app');
    for (const host of [one, two]) {
      host.run('everynode-agent', 'uninstall', '--yes', '--purge');
      assert.equal(host.runEngine('ps', '-aq'), '');
      assert.doesNotMatch(host.runEngine('images'), /everynode/);
      const left = host.run(
        'find',
        '/etc',
        '/usr',
        '/var',
        '/root',
        '/dev/shm',
        '-xdev',
        '-name',
        '*everynode*',
      );
      const own = '/etc/systemd/system/everynode-agent.service.d\n/usr/local/bin/everynode-agent';
      assert.equal(left, own, "the test's own");
      assert.equal(host.run('systemctl', 'list-units', '--all', '--plain', '--no-legend', 'everynode*'), '');
    }
  });
});
