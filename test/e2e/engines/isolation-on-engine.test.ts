/** Isolation settings of containers on real engines, read from inside the containers. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StorageLimitWatch } from '../../../agent/pods/eviction/storage-limit-watch.js';
import { HostVolumes } from '../../../agent/volumes/host-volumes.js';
import { NO_ENGINE } from '../../../agent/volumes/sub-path-preparation.js';
import type { Container, PodSpec } from '../../../shared/kube/pods/pod-types.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { cgroupLimits } from '../../harness/engines/cgroup-limits.js';
import { type EnginePods, onEachEngine } from '../../harness/engines/engine-pods.js';
import { shell } from '../../harness/engines/test-images.js';
import { podOf } from '../../harness/pods/pod-host-fixture.js';

/** A seccomp filter under which every call that changes a file's mode fails. It allows all other calls. */
const NO_CHMOD = JSON.stringify({
  defaultAction: 'SCMP_ACT_ALLOW',
  syscalls: [{ names: ['chmod', 'fchmod', 'fchmodat'], action: 'SCMP_ACT_ERRNO' }],
});

onEachEngine('isolation', isolation, allowNoChmod);

function isolation(pods: EnginePods): void {
  let count = 0;
  const give = (script: string, container: Partial<Container>, spec: Partial<PodSpec>): string => {
    count += 1;
    const name = `p${count}`;
    const command = shell(script);
    const containers = [{ name: 'app', image: 'app:1', command, ...container }];
    pods.fixture.assignPod(podOf(name, { containers, restartPolicy: 'Never', ...spec }));
    return name;
  };
  /** Returns the script's output after the script has exited. */
  const printed = async (
    script: string,
    container: Partial<Container> = {},
    spec: Partial<PodSpec> = {},
  ): Promise<string> => {
    const name = give(script, container, spec);
    await pods.until(
      `${name} has ended`,
      () => pods.fixture.container(name)?.state?.terminated !== undefined,
    );
    const containers = await pods.fixture.driver.inspectPod(`uid-${name}`);
    const app = containers.find(({ identity }) => identity.container === 'app');
    assert.ok(app);
    const request = { follow: false, timestamps: false };
    const chunks: Uint8Array[] = [];
    for await (const chunk of pods.fixture.driver.logs(app.id, request, AbortSignal.timeout(10_000))) {
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8').trim();
  };
  const statusField = async (field: string, container: Partial<Container>, spec: Partial<PodSpec> = {}) =>
    (await printed('/bin/busybox cat /proc/self/status', container, spec))
      .split('\n')
      .find((line) => line.startsWith(`${field}:`))
      ?.split(/\s+/)[1];

  pods.law('runAsUser, runAsGroup, supplementalGroups and fsGroup apply inside the container', async () => {
    const ids = await printed(
      '/bin/busybox id -u; /bin/busybox id -g; /bin/busybox id -G; /bin/busybox stat -c "%g %a" /v; ' +
        ': >/v/new; /bin/busybox stat -c %g /v/new',
      { volumeMounts: [{ name: 'v', mountPath: '/v' }] },
      {
        volumes: [{ name: 'v', emptyDir: {} }],
        securityContext: { runAsUser: 1000, runAsGroup: 2000, supplementalGroups: [3000], fsGroup: 4000 },
      },
    );
    assert.equal(ids, '1000\n2000\n2000 3000 4000\n4000 2777\n4000');
  });

  pods.law('runAsNonRoot stops a container with an image that runs as root', async () => {
    const name = give(':', { securityContext: { runAsNonRoot: true } }, {});
    await pods.until('refused', () => pods.fixture.state(name) === 'CreateContainerConfigError');
    const why = `container has runAsNonRoot and image will run as root (pod: "${name}_default(uid-${name})", container: app)`;
    assert.equal(pods.fixture.container(name)?.state?.waiting?.message, why);
    assert.ok(pods.fixture.events.includes(`Failed: Error: ${why}`), pods.fixture.events.join('\n'));
  });

  pods.law(
    'capabilities, allowPrivilegeEscalation and readOnlyRootFilesystem apply inside the container',
    async () => {
      assert.equal(
        await statusField('CapEff', { securityContext: { capabilities: { drop: ['ALL'] } } }),
        '0'.repeat(16),
      );
      const one = { capabilities: { drop: ['ALL'], add: ['NET_ADMIN'] } };
      assert.equal(await statusField('CapEff', { securityContext: one }), '0000000000001000');
      assert.equal(
        await statusField('NoNewPrivs', { securityContext: { allowPrivilegeEscalation: false } }),
        '1',
      );
      const written = await printed('echo >/x', {
        securityContext: { readOnlyRootFilesystem: true },
      });
      assert.match(written, /Read-only file system$/);
    },
  );

  pods.law('seccomp profiles RuntimeDefault, Unconfined and Localhost filter system calls', async () => {
    const withProfile = (type: string, localhostProfile?: string) => ({
      securityContext: { seccompProfile: { type, ...(localhostProfile ? { localhostProfile } : {}) } },
    });
    assert.equal(await statusField('Seccomp', withProfile('RuntimeDefault')), '2');
    assert.equal(await statusField('Seccomp', withProfile('Unconfined')), '0');
    const script = ': >/tmp-file; /bin/busybox chmod 600 /tmp-file || echo refused';
    assert.match(await printed(script, withProfile('Localhost', 'no-chmod.json')), /^refused$/m);
    const missing = give(':', withProfile('Localhost', 'none.json'), {});
    await pods.until('refused', () => pods.fixture.state(missing) === 'CreateContainerError');
    assert.match(
      pods.fixture.container(missing)?.state?.waiting?.message ?? '',
      /cannot load seccomp profile .*none\.json/,
    );
  });

  pods.law('an AppArmor profile is enforced, or the Pod is rejected on a host without AppArmor', async () => {
    const spec = { securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } };
    const name = give(':', {}, spec);
    await pods.until('it has ended', () =>
      /Succeeded|Failed/.test(pods.fixture.statuses.get(`uid-${name}`)?.phase ?? ''),
    );
    const { phase, reason, message } = pods.fixture.statuses.get(`uid-${name}`) ?? {};
    const rejected = 'Pod was rejected: Cannot enforce AppArmor: AppArmor is not enabled on the host';
    const expected = pods.fixture.facts.isolation.appArmor
      ? ['Succeeded', undefined, undefined]
      : ['Failed', 'AppArmor', rejected];
    assert.deepEqual([phase, reason, message], expected);
  });

  pods.law('sysctls apply to a Pod with one container and to a Pod with two', async () => {
    const sysctls = [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '80' }];
    const read = '/bin/busybox cat /proc/sys/net/ipv4/ip_unprivileged_port_start';
    assert.equal(await printed(read, {}, { securityContext: { sysctls } }), '80');
    const containers = ['app', 'side'].map((name) => ({ name, image: 'app:1', command: shell(read) }));
    assert.equal(await printed(read, {}, { containers, securityContext: { sysctls } }), '80');
  });

  pods.law('the OOM score follows the QoS class', async () => {
    const read = '/bin/busybox cat /proc/self/oom_score_adj';
    const asked = (memory: string) => ({ resources: { requests: { memory } } });
    pods.fixture.facts.allocatable = { cpu: '2', memory: '8Gi' };
    assert.equal(await printed(read), '1000');
    assert.equal(await printed(read, asked('2Gi')), '750');
    const limits = { cpu: '100m', memory: '32Mi' };
    assert.equal(await printed(read, { resources: { limits, requests: limits } }), '0');
    assert.ok(
      pods.fixture.events.some((event) => event.startsWith('IsolationReduced: OOM score adjustment is 0')),
    );
  });

  pods.law(
    'a Pod is evicted when its root filesystem, log or emptyDir exceeds its storage limit',
    async () => {
      const limits = { 'ephemeral-storage': '1Mi' };
      const write = (path: string) => `/bin/busybox dd if=/dev/zero of=${path} bs=1M count=3`;
      const stay = '; exec /bin/busybox sleep 60';
      const emptyDir = { volumes: [{ name: 'v', emptyDir: { sizeLimit: '1Mi' } }] };
      const names = [
        give(`${write('/file')}${stay}`, { resources: { limits } }, {}),
        give(`/bin/busybox yes | /bin/busybox head -c 3000000${stay}`, { resources: { limits } }, {}),
        give(`${write('/v/file')}${stay}`, { volumeMounts: [{ name: 'v', mountPath: '/v' }] }, emptyDir),
      ];
      const modest = give(`:${stay}`, { resources: { limits } }, { terminationGracePeriodSeconds: 0 });
      const watch = new StorageLimitWatch({
        pods: pods.fixture,
        workers: pods.fixture.workers,
        driver: pods.fixture.driver,
        volumes: new HostVolumes(pods.fixture.dataDir, NO_ENGINE),
        clock: systemClock,
        log: silentLogger,
      });
      const phases = () => names.map((name) => pods.fixture.statuses.get(`uid-${name}`)?.phase);
      await pods.until('all run', () =>
        [...names, modest].every((name) => pods.fixture.state(name) === 'running'),
      );
      await pods.until('they are evicted', async () => {
        await watch.check();
        return phases().every((phase) => phase === 'Failed');
      });
      const told = names.map((name) => pods.fixture.statuses.get(`uid-${name}`)?.message);
      const ofPod = 'Pod ephemeral local storage usage exceeds the total limit of containers 1Mi. ';
      assert.deepEqual(told, [ofPod, ofPod, 'Usage of EmptyDir volume "v" exceeds the limit "1Mi". ']);
      assert.equal(pods.fixture.state(modest), 'running');
      for (const name of names) {
        await pods.until(
          'its containers are gone',
          async () => (await pods.fixture.driver.inspectPod(`uid-${name}`)).length === 0,
        );
      }
    },
  );

  pods.law('CPU, memory and process limits apply inside the container', async () => {
    pods.fixture.facts.isolation = { ...pods.fixture.facts.isolation, podPidsLimit: 40 };
    const resources = { limits: { cpu: '250m', memory: '32Mi' }, requests: { cpu: '100m' } };
    const name = give('exec /bin/busybox sleep 60', { resources }, { terminationGracePeriodSeconds: 2 });
    await pods.until('it runs', () => pods.fixture.state(name) === 'running');
    const [container] = await pods.fixture.driver.inspectPod(`uid-${name}`);
    assert.ok(container);
    const [pid] = pods.engine.processesOf(container.id);
    assert.ok(pid);
    const { cpuShares = 102, ...limits } = cgroupLimits(pid);
    assert.deepEqual(limits, { cpuQuota: 25_000, memory: 32 * 1024 ** 2, pids: 40 });
    assert.equal(cpuShares, 102);
    delete pods.fixture.facts.isolation.podPidsLimit;
  });
}

/** Stores a seccomp profile of the host in the folder that Pods may refer to. */
async function allowNoChmod({ fixture: bench }: EnginePods): Promise<void> {
  const { dataDir, driver, facts } = bench;
  const seccompRoot = join(dataDir, 'seccomp');
  mkdirSync(seccompRoot);
  writeFileSync(join(seccompRoot, 'no-chmod.json'), NO_CHMOD);
  const { appArmor, seccomp } = await driver.info();
  // The lowest oom_score_adj that the agent may set on a machine without CAP_SYS_RESOURCE. On other machines 0 is a
  // valid floor too.
  facts.isolation = { ...facts.isolation, seccompRoot, appArmor, seccomp, leastOomScore: 0 };
}
