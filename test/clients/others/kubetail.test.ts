/** Debian's kubetail, which merges the logs of Pods, against a coordinator and hollow hosts. */
import {
  type ClientCommand,
  commandChecks,
  describeClient,
  programVersion,
  runProgram,
} from '../../harness/clients/client-program.js';

const MANIFEST = `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: daemon}
spec:
  selector: {matchLabels: {app: daemon}}
  template:
    metadata: {labels: {app: daemon}}
    spec:
      containers: [{name: main, image: "prints:1"}, {name: side, image: "prints:1"}]
`;
const END = '--follow false --since 10m -k false';
/** The lines of one container of each of the two Pods, in any order. */
const BOTH_PODS = /(?=[\s\S]*second line)(?:\[daemon-\w+\] (?:first|second) line[\s\S]*?){4}/;

const COMMANDS: readonly ClientCommand[] = [
  [`daemon ${END}`, /(?=[\s\S]*\[daemon-\w+ side\] second)[\s\S]*\[daemon-\w+ main\] second/],
  ['daemon --dry-run', /Will tail 4 logs[\s\S]*daemon-\w+ main[\s\S]*daemon-\w+ side/],
  [`daemon -c main ${END}`, BOTH_PODS],
  [`-l app=daemon -c main ${END}`, BOTH_PODS],
  [`^daemon-\\w+$ -e regex -c side ${END}`, BOTH_PODS],
  [`daemon -c main --tail 1 ${END}`, /^(?![\s\S]*first line)[\s\S]*second line/],
  [`daemon -c main --timestamps ${END}`, /\[daemon-\w+\] \d{4}-\d\d-\d\dT\S+Z first line/],
  [`daemon -n default -c main ${END}`, BOTH_PODS],
];

const found = programVersion('kubetail', ['--version'], /^([\d.]+)/);

describeClient('logs of several Pods and containers', 'kubetail', found, async (fleet) => {
  await fleet.kubectl.ok('apply -f -', MANIFEST);
  await fleet.kubectl.ok('rollout status daemonset/daemon --timeout=60s');
  const environment = { KUBECONFIG: fleet.kubeconfigPath, KUBECTL_BIN: fleet.kubectl.binary, TERM: 'xterm' };
  // The script ends with `kill 0`, which would end this test too if it had no process group of its own. Since 5.2 bash
  // replaces the `&` by which this version of kubetail joins its commands, unless that is switched off.
  const script = ['--wait', 'bash', '+O', 'patsub_replacement', '/usr/bin/kubetail'];
  return commandChecks(COMMANDS, async (words) => {
    const ran = await runProgram('setsid', [...script, ...words], environment);
    const isKilled = ran.code !== 0 && ran.stdout !== '';
    return { ...ran, code: isKilled ? 0 : ran.code };
  });
});
