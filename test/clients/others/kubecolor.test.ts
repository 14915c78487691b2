/** Debian's kubecolor, which colors the output of kubectl, against a coordinator and hollow hosts. */
import {
  type ClientCommand,
  commandChecks,
  describeClient,
  programVersion,
  runProgram,
} from '../../harness/clients/client-program.js';

const COLOR = '\u001b\\[\\d+m';
const MANIFEST = `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: daemon}
spec:
  selector: {matchLabels: {app: daemon}}
  template:
    metadata: {labels: {app: daemon}}
    spec: {containers: [{name: main, image: "prints:1"}]}
`;

/** Returns a pattern of colored output that has the words in this order. */
const colored = (...words: string[]): RegExp => new RegExp(`${COLOR}[\\s\\S]*${words.join('[\\s\\S]*')}`);

const COMMANDS: readonly ClientCommand[] = [
  ['apply -f -', colored('created'), MANIFEST],
  ['rollout status daemonset/daemon --timeout=60s', /successfully rolled out/],
  ['get nodes', colored('NAME', 'n1', 'Ready', 'n2')],
  ['get daemonsets,pods -o wide', colored('daemonset.apps/daemon', 'pod/daemon-', 'Running')],
  ['get pods -o json', colored('apiVersion', 'items', 'prints:1')],
  ['get daemonset daemon -o yaml', colored('kind', 'DaemonSet')],
  ['describe daemonset daemon', colored('Pods Status')],
  ['describe node n1', colored('Conditions', 'Ready')],
  ['explain daemonset.spec', colored('updateStrategy')],
  ['api-resources --api-group=apps', colored('daemonsets')],
  ['api-versions', colored('apps/v1')],
  ['logs -l app=daemon', colored('first line', 'second line')],
  ['delete daemonset daemon', /deleted/],
];

const found = programVersion('dpkg-query', ['-W', '-f', `\${Version}`, 'kubecolor'], /^([\d.]+)/);

describeClient('commands of kubectl in color', 'kubecolor', found, (fleet) => {
  const environment = { KUBECONFIG: fleet.kubeconfigPath, KUBECTL_COMMAND: fleet.kubectl.binary };
  return commandChecks(COMMANDS, (words, input) =>
    runProgram('kubecolor', [...words, '--force-colors'], environment, input),
  );
});
