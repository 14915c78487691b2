/** The cluster DNS as Pods on real engines use it: with busybox, musl and glibc, and from another machine of the LAN. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Container, PodSpec } from '../../../shared/kube/pods/pod-types.js';
import { until } from '../../harness/basics/wait-until.js';
import { ScriptedResolver } from '../../harness/dns/dns-client.js';
import { type EnginePods, onEachEngine, scripted } from '../../harness/engines/engine-pods.js';
import { run } from '../../harness/processes/run-system-command.js';

const DNS_PROCESS = fileURLToPath(new URL('../../harness/dns/dns-process.js', import.meta.url));
const ADDRESS = '169.254.20.53';
const ZONE = 'default.svc.cluster.local';
const MUSL_COMPILER = '/usr/bin/musl-gcc';

/** The server's process in the network namespace of the engine's host. `output` has its log. */
interface DnsProcess {
  child: ChildProcess;
  output: () => string;
}

/** `ip netns exec` also shows the devices of the namespace in /sys. */
async function startDns(pods: EnginePods, resolver: ScriptedResolver): Promise<DnsProcess> {
  const namespace = basename(pods.engine.networkNamespace);
  const { address, port } = resolver.nameserver;
  const child = spawn('ip', [
    'netns',
    'exec',
    namespace,
    process.execPath,
    DNS_PROCESS,
    `${address}:${port}`,
  ]);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes: Buffer) => {
      output += String(bytes);
    });
  await until(() => output.includes('serving\n'), { what: 'the DNS server' });
  assert.doesNotMatch(output, /not serving/);
  return { child, output: () => output };
}

const started: { dns?: DnsProcess; resolver?: ScriptedResolver }[] = [];
after(() => {
  for (const { dns, resolver } of started) {
    dns?.child.kill();
    resolver?.stop();
  }
});

async function prepare(pods: EnginePods): Promise<void> {
  const resolver = await ScriptedResolver.start(pods.engine.gateway);
  resolver.reply = (name, type) => {
    if (name !== 'www.example.com') return { rcode: 3 };
    return { answers: type === 'A' ? [{ type: 'A', name, ttl: 60, data: '192.0.2.7' }] : [] };
  };
  started.push({ dns: await startDns(pods, resolver), resolver });
  pods.fixture.facts.resolvers = {
    host: { nameservers: ['192.0.2.53'], searches: ['host.example'], options: [] },
    clusterDns: { state: 'served', address: ADDRESS },
  };
}

onEachEngine(
  'cluster DNS',
  (pods) => {
    /** Runs the command in a container of its own and returns its output. */
    const printed = async (pod: string, command: string, spec: Partial<PodSpec> = {}): Promise<string> => {
      const container = scripted('app', `{ ${command}; } >/dev/termination-log 2>&1`);
      const [given = {}] = (spec.containers ?? []) as Partial<Container>[];
      pods.assignPod(pod, [{ ...container, ...given }], {
        restartPolicy: 'Never',
        ...spec,
        containers: [{ ...container, ...given }],
      });
      const ended = () => pods.fixture.container(pod)?.state?.terminated;
      await pods.until('ended', () => ended() !== undefined);
      const text = ended()?.message ?? '';
      await pods.remove(pod);
      return text;
    };
    const RESOLV = '/bin/busybox cat /etc/resolv.conf';
    const assertClusterResolver = (text: string) => {
      assert.deepEqual(text.match(/^nameserver.*$/gm), [`nameserver ${ADDRESS}`]);
      assert.match(
        text,
        /^search default\.svc\.cluster\.local svc\.cluster\.local cluster\.local host\.example$/m,
      );
      assert.match(text, /^options .*ndots:5/m);
    };

    pods.law('a Pod has the cluster DNS in resolv.conf', async () => {
      assertClusterResolver(await printed('resolv', RESOLV));
    });

    pods.law('a Pod on the network of the host has it with ClusterFirstWithHostNet', async () => {
      const spec = { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' };
      assertClusterResolver(await printed('resolv-host', RESOLV, spec));
    });

    pods.law('containers that share the network of a sandbox have the same file', async () => {
      const script = `${RESOLV} >/dev/termination-log`;
      pods.assignPod('both', [scripted('app', script), scripted('other', script)], {
        restartPolicy: 'Never',
      });
      const ended = (name: string) =>
        pods.fixture.statuses.get('uid-both')?.containerStatuses?.find((each) => each.name === name)?.state
          ?.terminated;
      await pods.until('ended', () => ended('app') !== undefined && ended('other') !== undefined);
      for (const name of ['app', 'other']) assertClusterResolver(ended(name)?.message ?? '');
      await pods.remove('both');
    });

    pods.law('busybox nslookup finds a Service, its daemons and a name outside', async () => {
      const names = [`web.${ZONE}`, `logs.${ZONE}`, `node-2.example.com.logs.${ZONE}`, 'www.example.com.'];
      const text = await printed('lookup', names.map((name) => `/bin/busybox nslookup ${name}`).join('; '));
      for (const address of ['10.96.0.10', '10.1.0.2', '172.17.0.9', '192.0.2.7'])
        assert.match(text, new RegExp(`Address.*${address.replaceAll('.', '\\.')}`));
    });

    pods.law('musl resolves short names, and names outside through the search list', async () => {
      assert.ok(existsSync(MUSL_COMPILER), 'needs musl-tools (see .ci/packages)');
      const source = 'test/harness/dns/getaddrinfo.c';
      run(MUSL_COMPILER, '-static', '-Os', '-o', join(pods.folder, 'getaddrinfo'), source);
      const names = [
        'web',
        'web.default',
        `web.${ZONE}`,
        'node-2.example.com.logs',
        'www.example.com',
        'nothing',
      ];
      const script = names.map((name) => `echo ${name}: $(/test/getaddrinfo ${name})`).join('; ');
      const text = await printed('musl', script, {
        volumes: [{ name: 'test', hostPath: { path: pods.folder } }],
        containers: [{ volumeMounts: [{ name: 'test', mountPath: '/test' }] } as Container],
      });
      assert.deepEqual(text.trim().split('\n'), [
        'web: 10.96.0.10',
        'web.default: 10.96.0.10',
        `web.${ZONE}: 10.96.0.10`,
        'node-2.example.com.logs: 10.1.0.2',
        'www.example.com: 192.0.2.7',
        'nothing: Name does not resolve',
      ]);
    });

    pods.law('glibc resolves short names, and a Service with 64 daemons', async () => {
      const folders = { '/usr': '/usr', '/usr/lib': '/lib', '/usr/lib64': '/lib64' };
      const paths = Object.entries(folders).map(([path, mountPath], index) => ({
        name: `v${index}`,
        path,
        mountPath,
      }));
      const script = [
        'echo web: $(/usr/bin/getent ahostsv4 web | /bin/busybox grep -c "10.96.0.10.*STREAM")',
        'echo outside: $(/usr/bin/getent ahostsv4 www.example.com | /bin/busybox grep -c "192.0.2.7.*STREAM")',
        'echo many: $(/usr/bin/getent ahostsv4 many | /bin/busybox grep -c STREAM)',
      ].join('; ');
      const text = await printed('glibc', script, {
        volumes: paths.map(({ name, path }) => ({ name, hostPath: { path } })),
        containers: [
          {
            volumeMounts: paths.map(({ name, mountPath }) => ({ name, mountPath, readOnly: true })),
          } as Container,
        ],
      });
      assert.equal(text, 'web: 1\noutside: 1\nmany: 64\n');
    });

    pods.law('a machine of the LAN that sends queries to this host gets no answer', async () => {
      const host = basename(pods.engine.networkNamespace);
      const lan = `${host}-lan`;
      run('ip', 'netns', 'add', lan);
      try {
        run('ip', '-n', host, 'link', 'add', 'lan', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', lan);
        for (const command of [
          `-n ${host} addr add 198.51.100.1/30 dev lan`,
          `-n ${host} link set lan up`,
          `-n ${lan} addr add 198.51.100.2/30 dev eth0`,
          `-n ${lan} link set eth0 up`,
          `-n ${lan} route add ${ADDRESS} via 198.51.100.1`,
        ])
          run('ip', ...command.split(' '));
        const ask = ['netns', 'exec', lan, '/bin/busybox', 'timeout', '3', '/bin/busybox', 'nslookup'];
        const { stdout } = spawnSync('ip', [...ask, `web.${ZONE}`, ADDRESS], { encoding: 'utf8' });
        assert.doesNotMatch(stdout, /10\.96\.0\.10/);
        const output = started.at(-1)?.dns?.output ?? assert.fail();
        await until(() => output().includes('"client":"198.51.100.2"'), { what: 'the rejected query' });
      } finally {
        run('ip', 'netns', 'del', lan);
      }
    });
  },
  prepare,
);
