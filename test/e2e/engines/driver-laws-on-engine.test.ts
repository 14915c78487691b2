/** The laws of the engine driver hold on a real Docker and a real Podman. */
import { DockerEngine } from '../../../agent/runtime/docker/docker-engine.js';
import { askEngine } from '../../../agent/runtime/docker/find-engine.js';
import { type EngineKind, startEngine } from '../../harness/engines/test-engines.js';
import { loadTestImages, shell, WAITS } from '../../harness/engines/test-images.js';
import type { DriverFixture } from '../../laws/driver-fixture.js';
import { driverLaws } from '../../laws/driver-laws.js';

const IMAGE = 'law:1';

async function open(kind: EngineKind): Promise<DriverFixture | string> {
  const engine = await startEngine(kind);
  if (typeof engine === 'string') return engine;
  await loadTestImages(engine.socketPath, [IMAGE]);
  const found = await askEngine({ socketPath: engine.socketPath });
  const program = (command: string[]) => ({ image: IMAGE, command });
  return {
    driver: (owner) => new DockerEngine(found, owner),
    waits: program(WAITS),
    stubborn: program(shell('trap "" TERM; while :; do /bin/busybox sleep 1; done')),
    prints: program(shell('echo one; echo two; echo three; exit 3')),
    unstartable: program(['/no/such/program']),
    greedy: program(shell('/bin/busybox sleep 0.5; exec /bin/busybox dd if=/dev/zero of=/dev/null bs=64M')),
    reportsOutOfMemory: kind === 'docker',
    copies: program(['/bin/busybox', 'cat']),
    commands: {
      prints: ['busybox', 'echo', 'out'],
      warns: shell('echo err >&2'),
      fails: shell('exit 7'),
      copies: ['busybox', 'cat'],
      sizes: shell('while read line; do /bin/busybox stty size; done'),
      waits: ['busybox', 'sleep', '3600'],
      floods: shell('/bin/busybox head -c 1000000 /dev/zero'),
      missing: ['no-such-program'],
    },
    missingImage: '127.0.0.1:9/absent:1',
    restart: async () => {
      await engine.kill();
      await engine.start();
    },
    close: () => engine.stop(),
  };
}

driverLaws('docker', () => open('docker'));
driverLaws('podman', () => open('podman'));
