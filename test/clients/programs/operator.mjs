/**
 * An operator with @dot-i/k8s-operator: registers the CRD `Probe`, and keeps a DaemonSet and a ConfigMap for each Probe.
 * Its finalizer deletes the DaemonSet; its status names the generation that it has reconciled.
 */
import { loadClient } from './checks.mjs';

const { default: library } = await loadClient('@dot-i/k8s-operator');
const k8s = await loadClient('@kubernetes/client-node');
const Operator = library.default;
const FINALIZER = 'probes.operator.example.com/cleanup';

/** Resolves with undefined if the API answers 404 or 409. */
const ignoringAbsence = (promise) =>
  promise.catch((error) => {
    if (![404, 409].includes(error.response?.statusCode)) throw error;
  });

class ProbeOperator extends Operator {
  constructor() {
    const write = (message) => process.stderr.write(`${message}\n`);
    super({ info: write, debug: write, warn: write, error: write });
    this.apps = this.kubeConfig.makeApiClient(k8s.AppsV1Api);
    this.core = this.kubeConfig.makeApiClient(k8s.CoreV1Api);
  }

  async init() {
    const { group, versions, plural } = await this.registerCustomResourceDefinition(process.argv[2]);
    const onEvent = (event) =>
      this.reconcile(event).catch((error) =>
        process.stderr.write(`${error.stack} ${JSON.stringify(error.body)}\n`),
      );
    await this.watchResource(group, versions[0].name, plural, onEvent);
  }

  async reconcile(event) {
    if (event.type === 'DELETED') return;
    const { namespace, name } = event.meta;
    const cleanUp = () => ignoringAbsence(this.apps.deleteNamespacedDaemonSet(name, namespace));
    if (await this.handleResourceFinalizer(event, FINALIZER, cleanUp)) return;
    const { metadata, spec, status } = event.object;
    if (status?.observedGeneration === metadata.generation) return;
    await this.writeChildren(event.object);
    const message = `runs ${spec.image}`;
    await this.patchResourceStatus(event.meta, { observedGeneration: metadata.generation, message });
  }

  async writeChildren({ apiVersion, kind, metadata, spec }) {
    const { name, namespace, uid } = metadata;
    const labels = { probe: name };
    const owned = { name, labels, ownerReferences: [{ apiVersion, kind, name, uid, controller: true }] };
    const containers = [{ name: 'probe', image: spec.image }];
    const template = { metadata: { labels }, spec: { containers } };
    const daemonSet = { metadata: owned, spec: { selector: { matchLabels: labels }, template } };
    await ignoringAbsence(
      this.core.createNamespacedConfigMap(namespace, { metadata: owned, data: { name } }),
    );
    await ignoringAbsence(this.apps.createNamespacedDaemonSet(namespace, daemonSet));
    const headers = { 'Content-Type': 'application/merge-patch+json' };
    const body = { spec: { template: { spec: { containers } } } };
    const unset = Array(5).fill(undefined);
    await this.apps.patchNamespacedDaemonSet(name, namespace, body, ...unset, { headers });
  }
}

const operator = new ProbeOperator();
process.once('SIGTERM', () => {
  operator.stop();
  process.exit(0);
});
await operator.start();
