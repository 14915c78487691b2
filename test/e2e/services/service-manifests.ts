/** Manifests of the Services tests: daemons that name their node, and clients with a glibc and with busybox. */

const KINDS = { DaemonSet: 'apps/v1', Pod: 'v1', Service: 'v1' } as const;

function manifest(kind: keyof typeof KINDS, name: string, spec: object, annotations: object = {}): string {
  return JSON.stringify({ apiVersion: KINDS[kind], kind, metadata: { name, annotations }, spec });
}

/** Ready while this file is absent in the container. */
export const NOT_READY_FILE = '/not-ready';
const HTTP_PORT = 8080;
const NODE_NAME = { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } };

/** A web server that answers with the name of its node. `hostPort` 0: it is reachable only from its own host. */
export function webDaemon(name: string, hostPort: number): string {
  const script = `mkdir /www; echo "$NODE" >/www/index.html; exec /bin/busybox httpd -f -p ${HTTP_PORT} -h /www`;
  const readinessProbe = {
    exec: { command: ['/bin/busybox', 'test', '!', '-e', NOT_READY_FILE] },
    periodSeconds: 1,
    // A busy machine needs more than the default of 1 s, and only the file may decide.
    timeoutSeconds: 5,
    failureThreshold: 1,
  };
  const container = {
    name,
    image: 'app:1',
    command: ['/bin/busybox', 'sh', '-c', `alias mkdir='/bin/busybox mkdir'; ${script}`],
    env: [NODE_NAME],
    ports: [{ name: 'http', containerPort: HTTP_PORT, ...(hostPort > 0 && { hostPort }) }],
    readinessProbe,
  };
  return daemonSet(name, { containers: [container] });
}

/** Volumes with the programs of the host: `getent`, `curl`, Node, and what a test puts below /usr/local/lib. */
const HOST_PROGRAMS = ['/usr', '/lib', '/lib64'];
const hostVolumes = HOST_PROGRAMS.map((path) => ({ name: path.slice(1), hostPath: { path } }));
const hostMounts = HOST_PROGRAMS.map((path) => ({ name: path.slice(1), mountPath: path, readOnly: true }));

/** A Pod on the bridge network with busybox, and with the glibc programs of its host. */
export function clientDaemon(): string {
  return hostProgramDaemon('client', {});
}

/** The port of the echo daemon: it returns what it receives by TCP, and the name of its node by UDP. */
export const ECHO_PORT = 8125;

export function echoDaemon(): string {
  const script = [
    "process.on('SIGTERM', () => process.exit(0));",
    `require('node:net').createServer((each) => each.on('error', () => undefined).pipe(each)).listen(${ECHO_PORT});`,
    "const socket = require('node:dgram').createSocket('udp4');",
    `socket.on('message', (_, { port, address }) => socket.send(process.env.NODE, port, address)).bind(${ECHO_PORT});`,
  ].join('\n');
  return hostProgramDaemon('echo', {
    command: ['/usr/local/bin/node', '-e', script],
    env: [NODE_NAME],
    ports: [{ name: 'echo', containerPort: ECHO_PORT }],
    readinessProbe: { tcpSocket: { port: ECHO_PORT }, periodSeconds: 1 },
  });
}

function hostProgramDaemon(name: string, container: object): string {
  return daemonSet(name, {
    volumes: hostVolumes,
    containers: [{ name, image: 'app:1', volumeMounts: hostMounts, ...container }],
  });
}

function daemonSet(name: string, podSpec: object): string {
  return manifest('DaemonSet', name, {
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { terminationGracePeriodSeconds: 1, ...podSpec },
    },
  });
}

/** A Pod of one node that waits, for tests of its resolver. */
export function podOn(node: string, name: string, spec: object): string {
  const podSpec = { nodeName: node, terminationGracePeriodSeconds: 1, ...spec };
  return manifest('Pod', name, { containers: [{ name: 'app', image: 'app:1' }], ...podSpec });
}

/** A Service of the daemon `app`. `spec` adds fields such as `clusterIP: None`. */
export function serviceOf(app: string, name: string, spec: object = {}, annotations: object = {}): string {
  const ports = [{ name: 'http', port: 80, targetPort: 'http' }];
  return manifest('Service', name, { selector: { app }, ports, ...spec }, annotations);
}
