/** `kubectl apply -f examples/` is safe: manifests that change hosts are in another folder, which that command does not read. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';

const FOLDER = 'examples';
/** Host folders that an example writes: logs with the collector's positions, a collector's own, and sockets on labelled hosts. */
const WRITTEN = ['/var/log', '/var/lib/fluent-bit', '/var/lib/kubelet/device-plugins'];

interface Container {
  name: string;
  image: string;
  securityContext?: { privileged?: boolean; capabilities?: { add?: string[] } };
  volumeMounts?: { name: string; readOnly?: boolean }[];
}

interface PodSpec {
  containers: Container[];
  initContainers?: Container[];
  securityContext?: { sysctls?: unknown[] };
  volumes?: { name: string; hostPath?: { path: string } }[];
}

/** Ways in which a Pod could change its host, beyond writing to the folders above. */
function changesOf(spec: PodSpec): string[] {
  const paths = new Map(
    spec.volumes?.flatMap(({ name, hostPath }) => (hostPath ? [[name, hostPath.path]] : [])),
  );
  const containers = [...(spec.initContainers ?? []), ...spec.containers];
  return [
    ...(spec.securityContext?.sysctls?.length ? ['sets kernel parameters (sysctls)'] : []),
    ...containers.flatMap(({ name, image, securityContext, volumeMounts }) => [
      ...(securityContext?.privileged ? [`${name} is privileged`] : []),
      ...(securityContext?.capabilities?.add ?? []).map((each) => `${name} has the capability ${each}`),
      ...(image.startsWith('everynode.dev/agent:') ? [`${name} replaces the host's agent`] : []),
      ...(volumeMounts ?? []).flatMap((mount) => {
        const path = paths.get(mount.name);
        const isSafe = path === undefined || mount.readOnly || WRITTEN.includes(path);
        return isSafe ? [] : [`${name} writes ${path} of the host`];
      }),
    ]),
  ];
}

/** Returns the changes that a file's DaemonSets could make to a host, by file. */
function changesIn(folder: string): Map<string, string[]> {
  const files = readdirSync(folder).filter((name) => /\.(ya?ml|json)$/.test(name));
  const changesOfFile = (file: string): string[] =>
    parseAllDocuments(readFileSync(join(folder, file), 'utf8'))
      .map((document) => document.toJS() as { kind: string; spec: { template: { spec: PodSpec } } })
      .flatMap(({ kind, spec }) => (kind === 'DaemonSet' ? changesOf(spec.template.spec) : []));
  return new Map(files.map((file) => [file, changesOfFile(file)]));
}

for (const [file, changes] of changesIn(FOLDER)) {
  test(`${FOLDER}/${file} changes nothing on its hosts`, () => assert.deepEqual(changes, []));
}

for (const [file, changes] of changesIn(join(FOLDER, 'host-changes'))) {
  test(`${FOLDER}/host-changes/${file} is in this folder because it changes its hosts`, () => {
    assert.notDeepEqual(changes, []);
  });
}
