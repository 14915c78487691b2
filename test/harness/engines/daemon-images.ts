/**
 * Substitutes for the programs of well-known daemons, made from this machine's static busybox. Each has the effect on
 * its host that its example exists for, so that a test can observe it.
 */
import { readFileSync } from 'node:fs';
import { arch } from 'node:os';
import { imageArchive } from '../../../agent/runtime/sandbox/sandbox-image-archive.js';

interface DaemonImage {
  tag: string;
  entrypoint?: string[];
  /** Scripts by path, for busybox' shell. */
  scripts?: Record<string, string>;
}

/** Applets that the scripts and the manifests call by name. */
const APPLETS = [
  'sh',
  'cat',
  'cp',
  'echo',
  'sleep',
  'test',
  '[',
  'touch',
  'rm',
  'id',
  'grep',
  'mkdir',
  'kill',
];

const IMAGES: readonly DaemonImage[] = [
  {
    tag: 'quay.io/prometheus/node-exporter:v1.8.2',
    entrypoint: ['/bin/node_exporter'],
    scripts: {
      'bin/node_exporter': `for flag; do case $flag in
  --web.listen-address=*) listen=\${flag#*=} ;;
  --path.rootfs=*) root=\${flag#*=} ;;
esac; done
cat "$root/proc/loadavg" "$root/etc/hostname" >/dev/null || exit 1
exec busybox httpd -f -p "$listen" -h /www`,
      'www/cgi-bin/metrics': `echo Content-Type: text/plain; echo
echo "load $(cat /host/root/proc/loadavg)"; echo "user $(id -u)"`,
      'www/index.html': 'Node Exporter',
    },
  },
  {
    tag: 'cr.fluentbit.io/fluent/fluent-bit:3.1.9',
    entrypoint: ['/bin/fluent-bit'],
    scripts: {
      'bin/fluent-bit': `config=\${1#--config=}
port=$(grep HTTP_Port "$config"); port=\${port##* }
echo "$NODE_NAME $MEMORY_LIMIT" >/var/lib/fluent-bit/position.db
exec busybox httpd -f -p "$port" -h /www`,
      'www/index.html': 'fluent-bit',
      'www/api/v1/health': 'ok',
    },
  },
  {
    tag: 'example.com/cni-agent:v1.4',
    scripts: {
      'opt/agent/install': `echo "$CNI_CONF_NAME" >"/host/etc/cni/net.d/$CNI_CONF_NAME"
cp /bin/busybox /host/opt/cni/bin/example-cni`,
      'opt/agent/run': `trap 'rm -f /run/cni-agent/ready; exit 0' TERM
[ -x /host/opt/cni/bin/example-cni ] || exit 1
busybox ip link add everynode-cni type bridge 2>&1 || busybox ip link show everynode-cni
echo "$NODE_NAME $POD_IP" >/run/cni-agent/ready
while :; do busybox sleep 3600 & wait $!; done`,
      'opt/agent/check': 'test -e /run/cni-agent/ready',
    },
  },
  {
    tag: 'example.com/sensor-device-plugin:1.2.0',
    entrypoint: ['/bin/plugin'],
    scripts: {
      'bin/plugin': `trap 'exit 0' TERM
folder=/var/lib/kubelet/device-plugins
until [ -S $folder/kubelet.sock ]; do busybox sleep 0.1; done
[ -c /host/dev/null ] || exit 1
echo "found kubelet.sock" >$folder/sensor.registered
while :; do busybox sleep 3600 & wait $!; done`,
    },
  },
  { tag: 'docker.io/library/busybox:1.36' },
];

/** Each as `docker load` takes it. */
export function daemonImageArchives(): Promise<Buffer[]> {
  const busybox = readFileSync('/bin/busybox');
  const applets = APPLETS.map((name) => script(`bin/${name}`, `exec /bin/busybox ${name} "$@"`));
  const archives = IMAGES.map(({ tag, entrypoint, scripts = {} }) =>
    imageArchive({
      tags: [tag],
      architecture: arch() === 'arm64' ? 'arm64' : 'amd64',
      files: [
        { path: 'bin/busybox', bytes: busybox, mode: 0o755 },
        { path: 'etc/passwd', bytes: Buffer.from('root:x:0:0:root:/:/bin/sh\n'), mode: 0o644 },
        ...applets,
        ...Object.entries(scripts).map(([path, text]) => script(path, text)),
      ],
      config: { ...(entrypoint ? { Entrypoint: entrypoint } : {}), Env: ['PATH=/bin'] },
    }),
  );
  return Promise.all(archives);
}

/** Some scripts are web pages, which the image also marks executable. No process runs them. */
function script(path: string, text: string): { path: string; bytes: Buffer; mode: number } {
  const isPage = path.startsWith('www/') && !path.includes('cgi-bin');
  return { path, bytes: Buffer.from(isPage ? `${text}\n` : `#!/bin/busybox sh\n${text}\n`), mode: 0o755 };
}
