/**
 * The coordinator on Kubernetes as a plain manifest and as a Helm chart, both from `packaging/kubernetes.yaml`. There
 * `@path@` stands for a value of `packaging/chart/values.yaml`, or for one of `OTHERS`. The manifest has the defaults, and
 * no line without one.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { compressed, tarOf } from './file-layout.mjs';

const CHART = 'everynode-coordinator';
const PLACEHOLDER = /@([a-zA-Z.]+)@/g;

/** Placeholders that are no values, by manifest and chart. */
const OTHERS = {
  name: () => [CHART, '{{ .Release.Name }}-coordinator'],
  namespace: () => ['everynode', '{{ .Release.Namespace }}'],
  labels: () =>
    ['everynode', '{{ .Release.Name }}'].map(
      (instance) => `{app.kubernetes.io/name: ${CHART}, app.kubernetes.io/instance: ${instance}}`,
    ),
  image: (version) => [
    `everynode.dev/coordinator:${version}`,
    '{{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion | toString) }}',
  ],
  advertise: () => [
    'coordinator.example.com',
    '{{ required "advertise must be the name or address that hosts reach" .Values.advertise | toJson }}',
  ],
  // The API refuses an IPv6 address as a host name.
  hostAliases: () => [
    '[{ip: 127.0.0.1, hostnames: [coordinator.example.com]}]',
    '{{ if contains ":" (toString .Values.advertise) }}[]{{ else }}[{ip: 127.0.0.1, hostnames: [{{ .Values.advertise | toJson }}]}]{{ end }}',
  ],
};

function sources(root) {
  const read = (name) => readFileSync(join(root, 'release/packaging', name), 'utf8');
  return {
    template: read('kubernetes.yaml'),
    values: read('chart/values.yaml'),
    notes: read('chart/NOTES.txt'),
  };
}

const isEmpty = (value) => value == null || (typeof value === 'object' && Object.keys(value).length === 0);

/** Throws for a path that no value has, so that a wrong placeholder never becomes part of a release. */
function valueAt(values, path) {
  return path.split('.').reduce((value, key) => {
    if (!Object.hasOwn(value, key)) throw new Error(`chart/values.yaml has no value ${path}`);
    return value[key];
  }, values);
}

/** Returns the manifest for `kubectl apply`. */
export function kubernetesManifest(root, version) {
  const { template, values } = sources(root);
  const defaults = parse(values);
  const textOf = (path) => {
    if (OTHERS[path]) return OTHERS[path](version)[0];
    const value = valueAt(defaults, path);
    return isEmpty(value) ? undefined : stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim();
  };
  return template
    .replaceAll('@VERSION@', version)
    .split('\n')
    .filter((line) => [...line.matchAll(PLACEHOLDER)].every(([, path]) => textOf(path) !== undefined))
    .map((line) => line.replace(PLACEHOLDER, (_, path) => textOf(path)))
    .join('\n');
}

/** Returns a line of the chart. A value without a default is left out of the object while it is not set. */
function chartLine(line, defaults) {
  const [, path] = [...line.matchAll(PLACEHOLDER)][0] ?? [];
  if (path === undefined) return line;
  if (OTHERS[path]) return line.replace(PLACEHOLDER, (_, each) => OTHERS[each]()[1]);
  const value = `.Values.${path}`;
  if (!isEmpty(valueAt(defaults, path))) return line.replace(PLACEHOLDER, `{{ ${value} | toJson }}`);
  return `{{- with ${value} }}\n${line.replace(PLACEHOLDER, '{{ . | toJson }}')}\n{{- end }}`;
}

/** Returns the files of the chart by name. Helm creates the namespace, not the chart. */
export function chartFiles(root, version) {
  const { template, values, notes } = sources(root);
  const defaults = parse(values);
  const [, ...objects] = template.split('\n---\n');
  const about = {
    apiVersion: 'v2',
    name: CHART,
    description: 'The coordinator of Everynode: DaemonSets for machines that have no Kubernetes',
    type: 'application',
    version,
    appVersion: version,
    kubeVersion: '>=1.25.0-0',
  };
  const lines = objects.join('\n---\n').split('\n');
  return {
    'Chart.yaml': stringify(about),
    'values.yaml': values,
    'templates/coordinator.yaml': lines.map((line) => chartLine(line, defaults)).join('\n'),
    'templates/NOTES.txt': notes,
  };
}

/** Writes the chart as `helm install` takes it. */
export async function writeHelmChart({ root, version, epoch, target }) {
  const files = Object.entries(chartFiles(root, version));
  const layout = new Map(files.map(([name, text]) => [`/${CHART}/${name}`, { text, mode: 0o644 }]));
  writeFileSync(target, compressed(await tarOf(layout, epoch)));
}
