/** Manifests of the Services tests: daemons that name their node, and clients with a glibc and with busybox. */

const KINDS = { DaemonSet: 'apps/v1', Service: 'v1' } as const;

function manifest(kind: keyof typeof KINDS, name: string, spec: object): string {
  return JSON.stringify({ apiVersion: KINDS[kind], kind, metadata: { name }, spec });
}

/** Ready while this file is absent in the container. */
export const NOT_READY_FILE = '/not-ready';
const HTTP_PORT = 8080;

/** A web server that answers with the name of its node. `hostPort` 0: it is reachable only from its own host. */
export function webDaemon(name: string, hostPort: number): string {
  const script = `mkdir /www; echo "$NODE" >/www/index.html; exec /bin/busybox httpd -f -p ${HTTP_PORT} -h /www`;
  const readinessProbe = {
    exec: { command: ['/bin/busybox', 'test', '!', '-e', NOT_READY_FILE] },
    periodSeconds: 1,
    failureThreshold: 1,
  };
  const container = {
    name,
    image: 'app:1',
    command: ['/bin/busybox', 'sh', '-c', `alias mkdir='/bin/busybox mkdir'; ${script}`],
    env: [{ name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
    ports: [{ name: 'http', containerPort: HTTP_PORT, ...(hostPort > 0 && { hostPort }) }],
    readinessProbe,
  };
  return manifest('DaemonSet', name, {
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { terminationGracePeriodSeconds: 1, containers: [container] },
    },
  });
}

/** A Pod on the bridge network with busybox, and with the glibc programs of its host (`getent`, `curl`). */
export function clientDaemon(): string {
  const library = ['/usr', '/lib', '/lib64'];
  const volumes = library.map((path) => ({ name: path.slice(1), hostPath: { path } }));
  const volumeMounts = library.map((path) => ({ name: path.slice(1), mountPath: path, readOnly: true }));
  return manifest('DaemonSet', 'client', {
    selector: { matchLabels: { app: 'client' } },
    template: {
      metadata: { labels: { app: 'client' } },
      spec: {
        terminationGracePeriodSeconds: 1,
        volumes,
        containers: [{ name: 'client', image: 'app:1', volumeMounts }],
      },
    },
  });
}

/** A Service of the daemon `app`. `spec` adds fields such as `clusterIP: None`. */
export function serviceOf(app: string, name: string, spec: object = {}): string {
  return manifest('Service', name, {
    selector: { app },
    ports: [{ name: 'http', port: 80, targetPort: 'http' }],
    ...spec,
  });
}
