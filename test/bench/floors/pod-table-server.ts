/** Floor of `kubectl get pods`: plain HTTP serves prepared pages, so only kubectl's own time is left. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Rows a page. With smaller pages kubectl would wait between its requests, which is no floor. */
const PAGE = 10_000;
const COLUMNS = [
  'Name',
  'Ready',
  'Status',
  'Restarts',
  'Age',
  'IP',
  'Node',
  'Nominated Node',
  'Readiness Gates',
];
/** Columns that kubectl shows. */
const SHOWN = 5;

const DISCOVERY: Readonly<Record<string, object>> = {
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/apis': { kind: 'APIGroupList', apiVersion: 'v1', groups: [] },
  '/api/v1': {
    ...{ kind: 'APIResourceList', groupVersion: 'v1' },
    resources: [{ name: 'pods', singularName: 'pod', namespaced: true, kind: 'Pod', verbs: ['get', 'list'] }],
  },
};

/** Serves `pods` Pods. Returns a kubeconfig for the server. */
export async function servePodTable(pods: number): Promise<{ kubeconfig: string; close(): void }> {
  const starts = Array.from({ length: Math.ceil(pods / PAGE) }, (_, index) => index * PAGE);
  const pages = starts.map((from) => Buffer.from(JSON.stringify(page(from, pods))));
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://floor');
    response.setHeader('content-type', 'application/json');
    if (pathname.endsWith('/pods')) response.end(pages[Number(searchParams.get('continue') ?? 0) / PAGE]);
    else response.writeHead(DISCOVERY[pathname] ? 200 : 404).end(JSON.stringify(DISCOVERY[pathname] ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const named = (name: string, value: object) => ({ name: 'floor', [name]: value });
  const kubeconfig = JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'floor' },
    clusters: [named('cluster', { server: `http://127.0.0.1:${port}` })],
    users: [named('user', {})],
    contexts: [named('context', { cluster: 'floor', user: 'floor' })],
  });
  return { kubeconfig, close: () => void server.close() };
}

function page(from: number, pods: number): object {
  const until = Math.min(from + PAGE, pods);
  return {
    ...{ kind: 'Table', apiVersion: 'meta.k8s.io/v1' },
    metadata: { resourceVersion: '1', ...(until < pods ? { continue: String(until) } : {}) },
    columnDefinitions: COLUMNS.map((name, index) => {
      const format = index === 0 ? 'name' : '';
      return { name, type: 'string', format, description: name, priority: index < SHOWN ? 0 : 1 };
    }),
    rows: Array.from({ length: until - from }, (_, index) => row(from + index)),
  };
}

function row(index: number): object {
  const name = `bench-1a2b3c4d-${String(index).padStart(5, '0')}`;
  const uid = '123e4567-e89b-12d3-a456-426614174000';
  return {
    cells: [name, '1/1', 'Running', '0', '5m', '10.0.0.1', `node-${index}`, '<none>', '<none>'],
    object: {
      ...{ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' },
      metadata: {
        ...{ name, generateName: 'bench-1a2b3c4d-', namespace: 'default', uid, resourceVersion: '100000' },
        ...{ generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' },
        labels: { app: 'bench-1a2b3c4d', 'controller-revision-hash': '7d9f8c7b6d' },
        ownerReferences: [
          { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'bench-1a2b3c4d', uid, controller: true },
        ],
      },
    },
  };
}
