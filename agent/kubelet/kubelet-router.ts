/**
 * The kubelet's pages of this host (pkg/kubelet/server/server.go): paths to texts. Served by the coordinator's
 * `nodes/NAME/proxy`, and by the kubelet port.
 */
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import type { PageType } from '../../shared/link/encoding/kubelet-answer.js';
import { type MetricFamily, PROMETHEUS_TEXT, prometheusText } from '../metrics/prometheus-text.js';
import { RuntimeError } from '../runtime/runtime-driver.js';
import type { KubeletReadings } from './kubelet-readings.js';
import { type CadvisorInputs, cadvisorFamilies } from './pages/cadvisor-page.js';
import { FAILED_RESOURCE_FAMILIES, resourceFamilies } from './pages/resource-page.js';
import { statsSummary } from './pages/stats-summary.js';

interface KubeletAnswer {
  status: number;
  contentType: PageType;
  body: string;
}

interface KubeletSources {
  nodeName: string;
  readings: Pick<KubeletReadings, 'read' | 'readPair' | 'readStorage'>;
  /** Returns the Pods of this host with their last reported status. */
  pods: () => Pod[];
  /** Returns facts about the host. */
  host: () => CadvisorInputs['host'];
  /** Returns the agent's own metrics in Prometheus' text format. */
  metrics: () => string;
  probes: () => MetricFamily;
  /** Returns the settings that a KubeletConfiguration has, too. */
  config: () => object;
}

const PLAIN = 'text/plain; charset=utf-8';
const JSON_TYPE = 'application/json';

/** Pages that a kubelet has and this agent has not. With them, the port would be a way into every container. */
const REFUSED = [
  '/attach',
  '/checkpoint',
  '/containerLogs',
  '/cri',
  '/debug',
  '/exec',
  '/logs',
  '/portForward',
  '/run',
  '/runningpods',
];

type Page = (query: URLSearchParams) => Promise<KubeletAnswer> | KubeletAnswer;

const HEALTH_PATHS = ['/healthz', '/healthz/ping', '/healthz/log', '/healthz/syncloop'];

export class KubeletRouter {
  readonly #sources: KubeletSources;
  readonly #pages: ReadonlyMap<string, Page>;

  constructor(sources: KubeletSources) {
    this.#sources = sources;
    const health = () => ok(PLAIN, 'ok');
    this.#pages = new Map<string, Page>([
      ['/pods', () => this.#pods()],
      ['/stats/summary', (query) => this.#summary(query)],
      ['/metrics', () => ok(PROMETHEUS_TEXT, sources.metrics())],
      ['/metrics/cadvisor', () => this.#cadvisor()],
      ['/metrics/resource', () => this.#resource()],
      ['/metrics/probes', () => ok(PROMETHEUS_TEXT, prometheusText([sources.probes()]))],
      ['/configz', () => ok(JSON_TYPE, JSON.stringify({ kubeletconfig: sources.config() }))],
      ...HEALTH_PATHS.map((path): [string, Page] => [path, health]),
    ]);
  }

  /** Answers a GET. Never rejects. `path` starts with a slash and is decoded. */
  async answer(path: string, query: URLSearchParams): Promise<KubeletAnswer> {
    const trimmed = path.replace(/\/+$/, '');
    const page = this.#pages.get(trimmed);
    if (!page) return missing(trimmed);
    try {
      return await page(query);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const reason = error instanceof RuntimeError ? `the container engine does not respond: ${why}` : why;
      return { status: 500, contentType: PLAIN, body: `${reason}\n` };
    }
  }

  #pods(): KubeletAnswer {
    const items = this.#sources.pods();
    return ok(JSON_TYPE, JSON.stringify({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items }));
  }

  /** `only_cpu_and_memory` skips the slow figures. */
  async #summary(query: URLSearchParams): Promise<KubeletAnswer> {
    const { readings, nodeName, pods, host } = this.#sources;
    const isBrief = query.get('only_cpu_and_memory') === 'true';
    const [pair, storage] = await Promise.all([
      readings.readPair(),
      isBrief ? { containers: [], volumes: new Map() } : readings.readStorage(),
    ]);
    const { bootedAtMs } = host();
    const summary = statsSummary({ nodeName, bootedAtMs, readings: pair, storage, pods: pods() });
    return ok(JSON_TYPE, JSON.stringify(summary, undefined, 1));
  }

  async #cadvisor(): Promise<KubeletAnswer> {
    const { readings, pods, host } = this.#sources;
    const [reading, storage] = await Promise.all([readings.read(), readings.readStorage()]);
    const families = cadvisorFamilies({ reading, storage, pods: pods(), host: host() });
    return ok(PROMETHEUS_TEXT, prometheusText(families));
  }

  async #resource(): Promise<KubeletAnswer> {
    const { readings, pods } = this.#sources;
    try {
      return ok(PROMETHEUS_TEXT, prometheusText(resourceFamilies(await readings.read(), pods())));
    } catch (error) {
      if (!(error instanceof RuntimeError)) throw error;
      return ok(PROMETHEUS_TEXT, prometheusText(FAILED_RESOURCE_FAMILIES));
    }
  }
}

function ok(contentType: PageType, body: string): KubeletAnswer {
  return { status: 200, contentType, body };
}

/** Like a kubelet without debugging handlers (`InstallDebuggingDisabledHandlers`). */
function missing(path: string): KubeletAnswer {
  const isRefused = REFUSED.some((each) => path === each || path.startsWith(`${each}/`));
  return isRefused
    ? { status: 405, contentType: PLAIN, body: 'Debug endpoints are disabled.\n' }
    : { status: 404, contentType: PLAIN, body: '404 page not found\n' };
}
