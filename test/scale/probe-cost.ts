/**
 * CPU of an agent with 20 Pods on a real engine: idle, and with a liveness and a readiness probe each every 10 s.
 *   node dist/test/scale/probe-cost.js docker|podman [SECONDS]
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PodSpec } from '../../shared/kube/pods/pod-types.js';
import type { Handler } from '../../shared/kube/pods/probe-types.js';
import { EngineFixture } from '../harness/engines/engine-fixture.js';
import type { EngineKind } from '../harness/engines/test-engines.js';
import { shell } from '../harness/engines/test-images.js';

const PODS = 20;
const SERVER = `
  /bin/busybox --install -s /bin; mkdir /www; echo ok >/www/ok
  trap "exit 0" TERM; httpd -p 8080 -h /www; while :; do sleep 3600 & wait $!; done`;

const PROBES: Record<string, Handler | undefined> = {
  none: undefined,
  httpGet: { httpGet: { path: '/ok', port: 8080 } },
  tcpSocket: { tcpSocket: { port: 8080 } },
  exec: { exec: { command: ['/bin/busybox', 'true'] } },
};

function podSpec(handler: Handler | undefined): PodSpec {
  const probe = { ...handler, periodSeconds: 10 };
  const probes = handler ? { livenessProbe: probe, readinessProbe: probe } : {};
  const app = { name: 'app', image: 'app:1', command: shell(SERVER), ...probes };
  return { containers: [app], terminationGracePeriodSeconds: 2 };
}

const [kind = 'docker', seconds = '60'] = process.argv.slice(2);
const bench = await EngineFixture.open(kind as EngineKind);
if (typeof bench === 'string') throw new Error(bench);
try {
  for (const [name, handler] of Object.entries(PROBES)) {
    const pods = Array.from({ length: PODS }, (_, index) => `${name.toLowerCase()}-${index}`);
    for (const pod of pods) bench.assignPod(pod, podSpec(handler));
    for (const pod of pods) await bench.untilReady(pod);
    await sleep(10_000);
    const before = bench.agentCpuMs();
    await sleep(Number(seconds) * 1000);
    const share = (bench.agentCpuMs() - before) / (Number(seconds) * 10);
    process.stdout.write(`${kind}, ${PODS} pods, probes ${name}: ${share.toFixed(2)} % of a core\n`);
    await Promise.all(pods.map((pod) => bench.delete(pod)));
  }
} finally {
  await bench.close();
}
