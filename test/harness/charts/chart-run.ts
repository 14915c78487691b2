/** Runs the life of one release, and removes what it leaves. */
import { join } from 'node:path';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { until } from '../basics/wait-until.js';
import type { Helm } from '../clients/helm.js';
import type { Kubectl } from '../clients/kubectl.js';
import type { SimulatedFleet } from '../simulated/simulated-fleet-fixture.js';
import { type ChartCase, copyAsNextVersion } from './chart-folder.js';
import { type ChartOutcome, failedOutcome } from './chart-outcome.js';

const WAIT = '--wait --timeout 90s';
/** A namespace ends when its objects have ended. */
const NAMESPACE_TIMEOUT_MS = 60_000;
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

interface Claim extends KubeObject {
  status?: { phase?: string };
}

interface Service extends KubeObject {
  spec?: { type?: string };
  status?: { loadBalancer?: { ingress?: unknown[] } };
}

/** Runs the steps in order. Stops at the first one that fails. Charts have releases and namespaces of their own name. */
export async function runChart(
  { api }: SimulatedFleet,
  { helm, kubectl }: { helm: Helm; kubectl: Kubectl },
  chartCase: ChartCase,
): Promise<ChartOutcome> {
  const { chart, path, values, prepared } = chartCase;
  if (prepared) {
    await kubectl.ok(`create namespace ${chart}`);
    await kubectl.ok(`apply --server-side -n ${chart} -f ${prepared}`);
  }
  const flags = `-n ${chart} ${values ? `-f ${values} ` : ''}${WAIT}`;
  const next = join(helm.home, 'next', chart);
  copyAsNextVersion(chartCase, next);
  const before = await storedIn(api, chart);
  const steps = {
    install: `install ${chart} ${path} --create-namespace ${flags}`,
    upgrade: `upgrade ${chart} ${next} ${flags}`,
    rollback: `rollback ${chart} 1 -n ${chart} ${WAIT}`,
    uninstall: `uninstall ${chart} -n ${chart} ${WAIT}`,
  };
  for (const [step, command] of Object.entries(steps)) {
    const { code, stderr } = await helm.run(command);
    if (code === 0) continue;
    const after = await storedIn(api, chart);
    return failedOutcome({
      ...{ step, stderr },
      stored: after.filter((name) => !before.includes(name)),
      ...(await missingIn(api, chart)),
    });
  }
  return { kind: 'passed' };
}

/** Helm stores a release as a Secret, and creates ServiceAccounts and Secrets first. */
async function storedIn(api: SimulatedFleet['api'], namespace: string): Promise<string[]> {
  const names = await Promise.all(
    ['secrets', 'serviceaccounts'].map(async (resource) => {
      const { items } = await api.items<KubeObject>(`/api/v1/namespaces/${namespace}/${resource}`);
      return items.map(({ metadata }) => `${resource}/${metadata.name}`);
    }),
  );
  return names.flat().filter((name) => name !== 'serviceaccounts/default');
}

async function missingIn(api: SimulatedFleet['api'], namespace: string) {
  const place = `/api/v1/namespaces/${namespace}`;
  const claims = await api.items<Claim>(`${place}/persistentvolumeclaims`);
  const services = await api.items<Service>(`${place}/services`);
  const nameOf = ({ metadata }: KubeObject): string => metadata.name;
  return {
    pendingClaims: claims.items.filter(({ status }) => status?.phase !== 'Bound').map(nameOf),
    waitingServices: services.items
      .filter(({ spec, status }) => spec?.type === 'LoadBalancer' && !status?.loadBalancer?.ingress?.length)
      .map(nameOf),
  };
}

/**
 * Removes a failed release, its namespace, and the CustomResourceDefinitions, which Helm keeps. Throws if the namespace
 * does not end.
 */
export async function cleanUpChart({ api }: SimulatedFleet, helm: Helm, { chart }: ChartCase): Promise<void> {
  await helm.run(`uninstall ${chart} -n ${chart} --no-hooks --ignore-not-found`);
  const { items } = await api.items<KubeObject>(CRDS);
  for (const { metadata } of items) await api.request('DELETE', `${CRDS}/${metadata.name}`);
  await api.request('DELETE', `/api/v1/namespaces/${chart}`).catch(() => undefined);
  const hasEnded = async (): Promise<boolean> => {
    const namespaces = await api.items<KubeObject>('/api/v1/namespaces');
    return !namespaces.items.some(({ metadata }) => metadata.name === chart);
  };
  await until(hasEnded, { timeoutMs: NAMESPACE_TIMEOUT_MS, what: `end of the namespace ${chart}` });
}
