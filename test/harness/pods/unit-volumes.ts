/**
 * Runs the agent's volumes in a process with the hardening of the agent's unit. Arguments: SOCKET, then `make` or
 * `remove`. Prints where the engine finds the subPath `p` of the host's folder.
 */
import { mkdirSync } from 'node:fs';
import type { FileFacts } from '../../../agent/decisions/container-spec/volume-files.js';
import { engineProcesses } from '../../../agent/runtime/engine-processes.js';
import { HostVolumes } from '../../../agent/volumes/host-volumes.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';

export const UNIT_DATA = '/var/lib/unit-volumes';
export const UNIT_HOST_PATH = '/srv/unit-volumes';

const FACTS: FileFacts = {
  nodeName: 'n',
  hostIP: '',
  podIP: '',
  allocatable: {},
  findConfig: () => undefined,
};
const container = { name: 'c', image: 'a', volumeMounts: [{ name: 'host', mountPath: '/v', subPath: 'p' }] };
const POD: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', uid: 'uid-p' },
  spec: {
    containers: [container],
    securityContext: { fsGroup: 2000 },
    volumes: [
      { name: 'host', hostPath: { path: UNIT_HOST_PATH, type: 'DirectoryOrCreate' } },
      { name: 'own', emptyDir: {} },
    ],
  },
};

async function main(socketPath: string, what: string): Promise<void> {
  mkdirSync(UNIT_DATA, { recursive: true, mode: 0o700 });
  const volumes = new HostVolumes(UNIT_DATA, () => engineProcesses({ socketPath }));
  if (what === 'remove') {
    await volumes.remove('uid-p');
  } else {
    await volumes.prepare(POD, FACTS);
    const [mount] = await volumes.mountsOf(POD, container, new Map());
    process.stdout.write(`${mount?.hostPath}\n`);
  }
  await volumes.close();
}

// The test imports this file for its constants, and the host runs it.
const [, program, socketPath, what] = process.argv;
if (program?.endsWith('unit-volumes.js') && socketPath && what) await main(socketPath, what);
