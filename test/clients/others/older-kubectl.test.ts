/** kubectl 1.27 to 1.33: a DaemonSet from its first apply to its deletion, on hollow hosts. */
import assert from 'node:assert/strict';
import { findClient } from '../../harness/clients/client-binaries.js';
import { type ClientCommand, commandChecks, describeClient } from '../../harness/clients/client-program.js';
import { OLDER_KUBECTLS } from '../../harness/clients/each-kubectl.js';
import { createKubectl } from '../../harness/clients/kubectl.js';

const manifest = (image: string) => `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: daemon}
spec:
  selector: {matchLabels: {app: daemon}}
  template:
    metadata: {labels: {app: daemon}}
    spec: {containers: [{name: main, image: "${image}"}]}
`;

const COMMANDS: readonly ClientCommand[] = [
  ['apply -f -', /daemonset\.apps\/daemon created/, manifest('app:1')],
  ['rollout status daemonset/daemon --timeout=60s', /successfully rolled out/],
  ['apply --server-side --dry-run=server --force-conflicts -f -', /serverside-applied/, manifest('app:3')],
  ['apply -f -', /configured/, manifest('app:2')],
  ['rollout status daemonset/daemon --timeout=60s', /successfully rolled out/],
  ['rollout history daemonset/daemon', /REVISION[\s\S]*1[\s\S]*2/],
  ['rollout undo daemonset/daemon', /rolled back/],
  ['get daemonset daemon -o jsonpath={.spec.template.spec.containers[0].image}', /^app:1$/],
  ['get daemonset,pods -o wide', /daemonset\.apps\/daemon[\s\S]*pod\/daemon-/],
  ['describe daemonset daemon', /Pods Status:/],
  ['explain daemonset.spec.updateStrategy', /RollingUpdate/],
  ['set image daemonset/daemon main=app:4', /image updated/],
  ['label daemonset daemon tier=edge', /labeled/],
  ['annotate daemonset daemon note=x', /annotate/],
  ['create configmap settings --from-literal=a=1', /created/],
  ['create secret generic key --from-literal=a=1', /created/],
  ['patch configmap settings -p {"data":{"a":"2"}}', /patched/],
  ['wait --for=condition=Ready node --all --timeout=30s', /condition met/],
  ['auth can-i create daemonsets', /yes/],
  ['api-resources --api-group=apps', /daemonsets/],
  ['cordon n2', /cordoned/],
  ['drain n2 --ignore-daemonsets --timeout=30s', /drained/],
  ['uncordon n2', /uncordoned/],
  ['delete daemonset daemon --timeout=60s', /deleted/],
];

for (const name of OLDER_KUBECTLS) {
  const binary = findClient(name);
  const found = 'why' in binary ? binary : { version: name.slice('kubectl-'.length) };
  describeClient('a DaemonSet from apply to deletion', 'kubectl', found, async (fleet) => {
    assert.ok('path' in binary);
    const kubectl = createKubectl(fleet.kubeconfig, binary.path);
    const checks = await commandChecks(COMMANDS, kubectl.run);
    kubectl.remove();
    return checks;
  });
}
