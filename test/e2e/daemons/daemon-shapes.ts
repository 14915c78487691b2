/** Applies the DaemonSets of examples/ unchanged and checks them on their host. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { readHostInfo } from '../../../agent/node/host-info.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { until, untilPasses } from '../../harness/basics/wait-until.js';
import { daemonImageArchives } from '../../harness/engines/daemon-images.js';
import type { EngineKind } from '../../harness/engines/test-engines.js';
import { HOST_NAME, HostFixture } from '../../harness/hosts/host-fixture.js';

const PATIENCE_MS = 60_000;
const DEVICE_PLUGINS = '/var/lib/kubelet/device-plugins';
const MAX_MAP_COUNT = '/proc/sys/vm/max_map_count';
/** Paths on the host that the Pods of the manifests create. */
const MADE = [
  '/var/lib/fluent-bit',
  '/run/cni-agent',
  '/opt/cni',
  '/etc/cni',
  '/lib/modules',
  '/var/lib/kubelet',
];

/** Registers the checks on one engine. */
export function daemons(kind: EngineKind): void {
  describe(`example DaemonSets on ${kind}`, { concurrency: 1 }, () => {
    let fixture: HostFixture | string;
    let kubelet: Server | undefined;
    const wasThere = new Set(MADE.filter((path) => existsSync(path)));
    const mapCount = readFileSync(MAX_MAP_COUNT, 'utf8');

    before(async () => {
      fixture = await HostFixture.open(kind, await daemonImageArchives());
    });
    after(async () => {
      kubelet?.close();
      if (typeof fixture !== 'string') await fixture.close();
      for (const path of MADE) if (!wasThere.has(path)) rmSync(path, { recursive: true, force: true });
      rmSync('/etc/cni/net.d/10-example.conflist', { force: true });
      writeFileSync(MAX_MAP_COUNT, mapCount);
    });

    const check = (name: string, body: (host: HostFixture) => Promise<void>): void => {
      test(name, { timeout: 180_000 }, async (context) => {
        if (typeof fixture === 'string') leaveOut(context, `well-known daemons on ${kind}`, fixture);
        else await body(fixture);
      });
    };
    /** Applies the example unchanged. Returns the warnings that kubectl printed. */
    const apply = async ({ kubectl }: HostFixture, example: string): Promise<string> => {
      const path = resolve('examples', `${example}.yaml`);
      const { code, stderr } = await kubectl.run(['apply', '-f', path]);
      assert.equal(code, 0, stderr);
      return stderr.trim();
    };
    const rolledOut = async ({ kubectl }: HostFixture, set: string, namespace: string): Promise<void> => {
      const { code, stdout, stderr } = await kubectl.run([
        ...['rollout', 'status', `ds/${set}`, '-n', namespace, '--timeout=60s'],
      ]);
      if (code === 0) return;
      assert.fail(`${stdout}${stderr}${await kubectl.ok(`describe pods -n ${namespace}`)}`);
    };
    const remove = async ({ kubectl }: HostFixture, example: string): Promise<void> => {
      await kubectl.ok(`delete --wait=true --ignore-not-found -f ${resolve('examples', `${example}.yaml`)}`);
    };

    check(
      'node exporter mounts the host read-only, runs as user nobody and uses the host network',
      async (host) => {
        assert.equal(await apply(host, 'node-exporter'), '');
        await rolledOut(host, 'node-exporter', 'monitoring');
        const url = `http://${host.engine.address}:9100/cgi-bin/metrics`;
        const metrics = host.engine.onHost('/bin/busybox', 'wget', '-qO-', url);
        assert.match(metrics, /^load \d+\.\d+ /);
        assert.match(metrics, /^user 65534$/m);
        await remove(host, 'node-exporter');
      },
    );

    check(
      'fluent-bit reads its settings from a ConfigMap, writes to the host and passes its HTTP health probe',
      async (host) => {
        assert.equal(await apply(host, 'fluent-bit'), '');
        await rolledOut(host, 'fluent-bit', 'logging');
        assert.equal(readFileSync('/var/lib/fluent-bit/position.db', 'utf8'), `${HOST_NAME} 128\n`);
        await remove(host, 'fluent-bit');
      },
    );

    check(
      'a privileged CNI agent starts if the host has all capabilities, otherwise an Event states the missing ones',
      async (host) => {
        const { kubectl } = host;
        assert.equal(await apply(host, 'host-changes/cni-agent'), '');
        if (!hasAllCapabilities()) {
          // Docker refuses a container with capabilities that this host lacks. Podman runs it with the available ones.
          const reason =
            kind === 'docker' ? /Warning +Failed .*Error: .*(capabilit|operation not permitted)/i : /$/;
          await untilPasses(async () => {
            const events = await kubectl.ok('get events -n kube-system');
            assert.match(events, /Warning +IsolationReduced .*capabilities are missing on this host: /);
            assert.match(events, reason);
          }, PATIENCE_MS);
          const lessRights = { privileged: null, capabilities: { add: ['NET_ADMIN'] } };
          const containers = [{ name: 'agent', securityContext: lessRights }];
          const patch = JSON.stringify({ spec: { template: { spec: { containers } } } });
          await kubectl.run(['patch', 'ds', 'cni-agent', '-n', 'kube-system', '-p', patch]);
        }
        await rolledOut(host, 'cni-agent', 'kube-system');
        assert.match(host.engine.onHost('ip', 'link', 'show', 'everynode-cni'), /everynode-cni/);
        assert.ok(existsSync('/opt/cni/bin/example-cni'));
        assert.equal(readFileSync('/run/cni-agent/ready', 'utf8'), `${HOST_NAME} ${host.engine.address}\n`);
        await remove(host, 'host-changes/cni-agent');
        await untilPasses(() => assert.equal(existsSync('/run/cni-agent/ready'), false));
      },
    );

    check('a device plugin runs only on labelled nodes and serves sockets on the host', async (host) => {
      assert.equal(await apply(host, 'device-plugin'), '');
      const set = 'get ds sensor-device-plugin -n kube-system -o jsonpath={.status.desiredNumberScheduled}';
      assert.equal(await host.kubectl.ok(set), '0');
      mkdirSync(DEVICE_PLUGINS, { recursive: true });
      rmSync(join(DEVICE_PLUGINS, 'kubelet.sock'), { force: true });
      kubelet = createServer().listen(join(DEVICE_PLUGINS, 'kubelet.sock'));
      await host.kubectl.ok(`label node ${HOST_NAME} example.com/sensor=true`);
      await rolledOut(host, 'sensor-device-plugin', 'kube-system');
      await until(() => existsSync(join(DEVICE_PLUGINS, 'sensor.registered')), {
        timeoutMs: PATIENCE_MS,
        what: 'the plugin to register',
      });
      await host.kubectl.ok(`label node ${HOST_NAME} example.com/sensor-`);
      await untilPasses(async () =>
        assert.equal((await host.containers.ofPods('sensor-device-plugin-')).length, 0),
      );
      await remove(host, 'device-plugin');
    });

    check('a kernel tuner runs a privileged init container and sets sysctls of the Pod', async (host) => {
      assert.equal(await apply(host, 'host-changes/kernel-tuner'), '');
      await rolledOut(host, 'kernel-tuner', 'default');
      assert.ok(Number(readFileSync(MAX_MAP_COUNT, 'utf8')) >= 262_144);
      const read = 'exec ds/kernel-tuner -- cat /proc/sys/net/ipv4/tcp_keepalive_time';
      assert.equal(await host.kubectl.ok(read), '600');
      await remove(host, 'host-changes/kernel-tuner');
    });

    check('deleted example DaemonSets leave no container, network or volume in the engine', async (host) => {
      await untilPasses(async () => {
        const left = (await host.containers.all()).filter(({ podName }) => podName !== undefined);
        assert.deepEqual(left, []);
      });
    });
  });
}

function hasAllCapabilities(): boolean {
  return readHostInfo('/', undefined).missingCapabilities.length === 0;
}
