/** cdk8s: imports the types of a CRD, synthesizes a chart, and kubectl applies it, against hollow hosts. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { transformSync } from 'esbuild';
import type { ConformanceFleet } from '../../conformance/scenarios/conformance-fleet.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import {
  type ClientCheck,
  type ClientCommand,
  commandChecks,
  describeClient,
  runProgram,
} from '../../harness/clients/client-program.js';
import { npmPackage } from '../../harness/clients/npm-package.js';

const VERSION = '2.70.106';
const PINNED = [`cdk8s@${VERSION}`, 'cdk8s-plus-33@2.5.57', 'constructs@10.8.1'];
const PROGRAMS = resolve(import.meta.dirname, '../programs');
const NAME = /name: (edge-daemon-\S+)/;

const found = npmPackage('cdk8s-cli', '2.207.60', PINNED);

/** A project of cdk8s in a folder of its own. */
class CdkProject {
  readonly folder = temporaryDirectory();
  readonly #types = join(this.folder, 'types.mjs');

  constructor(
    private readonly fleet: ConformanceFleet,
    private readonly modules: string,
  ) {
    // The imported types import cdk8s.
    symlinkSync(modules, join(this.folder, 'node_modules'));
    mkdirSync(join(this.folder, 'out'));
  }

  /** Imports the types of the CRD as the coordinator returns it. */
  async importTypes(): Promise<ClientCheck> {
    const crd = join(this.folder, 'crd.yaml');
    writeFileSync(crd, await this.fleet.kubectl.ok('get crd probes.operator.example.com -o yaml'));
    const imports = join(this.folder, 'imports');
    const words = ['import', crd, '--language', 'typescript', '--output', imports, '--no-save'];
    const { code, stdout, stderr } = await this.#cdk8s(words, {});
    const title = 'import makes types of a CRD that the coordinator returns';
    if (code !== 0) return { title, error: `${stdout}${stderr}` };
    const text = readFileSync(join(imports, 'operator.example.com.ts'), 'utf8');
    writeFileSync(this.#types, transformSync(text, { loader: 'ts' }).code);
    return { title, error: /image: string/.test(text) ? undefined : text };
  }

  /** Synthesizes the app and returns its manifest. */
  async synthesize(image: string, level: string): Promise<string> {
    const words = ['synth', '--app', `node ${PROGRAMS}/cdk8s-app.mjs`, '--output', join(this.folder, 'out')];
    const environment = { CLIENT_MODULES: this.modules, IMPORTED_TYPES: this.#types };
    const ran = await this.#cdk8s(words, { ...environment, IMAGE: image, LEVEL: level });
    assert.equal(ran.code, 0, `${ran.stdout}${ran.stderr}`);
    return readFileSync(join(this.folder, 'out', 'edge.k8s.yaml'), 'utf8');
  }

  #cdk8s(words: readonly string[], environment: Readonly<Record<string, string>>) {
    const cli = join(this.modules, 'cdk8s-cli/bin/cdk8s');
    const all = { ...environment, CDK8S_CHECK_UPGRADE: 'false', CHECKPOINT_DISABLE: '1' };
    return runProgram(process.execPath, [cli, ...words], all);
  }
}

function commands(first: string, second: string): readonly ClientCommand[] {
  const daemon = NAME.exec(first)?.[1];
  const status = `rollout status daemonset/${daemon} -n cdk8s --timeout=60s`;
  const read = `get daemonset ${daemon} -n cdk8s -o`;
  return [
    ['create namespace cdk8s', /created/],
    ['apply --dry-run=server -f -', /created \(server dry run\)/, first],
    ['apply -f -', /probe\.operator\.example\.com\/edge-probe-\S+ created/, first],
    [status, /successfully rolled out/],
    ['diff -f -', /^$/, first],
    [`${read} jsonpath={.metadata.annotations.patched}`, /^yes$/],
    [
      'get configmaps,serviceaccounts,probes -n cdk8s -l from=cdk8s -o name',
      /configmap\/edge-settings-[\s\S]*probe/,
    ],
    ['apply -f -', /daemonset\.apps\/\S+ configured[\s\S]*probe\S+ configured/, second],
    [status, /successfully rolled out/],
    [`${read} jsonpath={.spec.template.spec.containers[0].image}`, /^app:2$/],
    ['apply --server-side --force-conflicts -f -', /serverside-applied/, second],
    ['delete -f - --timeout=60s', /daemonset\.apps "\S+" deleted/, second],
  ];
}

describeClient(
  'import of a CRD, synth of a chart, apply, diff and delete by kubectl',
  'cdk8s',
  'why' in found ? found : { version: VERSION },
  async (fleet) => {
    assert.ok('path' in found);
    await fleet.kubectl.ok(`apply -f ${PROGRAMS}/probe-definition.yaml`);
    const project = new CdkProject(fleet, found.path);
    const imported = await project.importTypes();
    if (imported.error !== undefined) return [imported];
    const first = await project.synthesize('app:1', 'info');
    const second = await project.synthesize('app:2', 'debug');
    return [imported, ...(await commandChecks(commands(first, second), fleet.kubectl.run))];
  },
);
