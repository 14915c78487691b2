/** A cdk8s app: constructs of cdk8s-plus, a patch of their manifest, and a custom resource of imported types. */
import { pathToFileURL } from 'node:url';
import { loadClient } from './checks.mjs';

const { default: cdk8s } = await loadClient('cdk8s');
const { default: plus } = await loadClient('cdk8s-plus-33');
const { Probe } = await import(pathToFileURL(process.env.IMPORTED_TYPES).href);

const app = new cdk8s.App();
const chart = new cdk8s.Chart(app, 'edge', { namespace: 'cdk8s', labels: { from: 'cdk8s' } });
const settings = new plus.ConfigMap(chart, 'settings', { data: { level: process.env.LEVEL } });
const daemon = new plus.DaemonSet(chart, 'daemon', {
  containers: [
    {
      name: 'main',
      image: process.env.IMAGE,
      envFrom: [plus.Env.fromConfigMap(settings)],
      securityContext: { ensureNonRoot: false, readOnlyRootFilesystem: true },
      resources: { cpu: { request: plus.Cpu.millis(10) }, memory: { limit: cdk8s.Size.mebibytes(32) } },
    },
  ],
});
daemon.addContainer({ name: 'side', image: 'app:1', securityContext: { ensureNonRoot: false } });
cdk8s.ApiObject.of(daemon).addJsonPatch(cdk8s.JsonPatch.add('/metadata/annotations', { patched: 'yes' }));
new plus.ServiceAccount(chart, 'account');
new Probe(chart, 'probe', { spec: { image: process.env.IMAGE } });
app.synth();
