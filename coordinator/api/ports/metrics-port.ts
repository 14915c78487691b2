/** What the API asks of whoever counts: every request is told, and the page is what `/metrics` answers. */
import type { LoggedRequest } from '../http/request-log.js';

/** Path of the page. As in Kubernetes nobody may read it without a rule for `nonResourceURLs`. */
export const METRICS_PATH = '/metrics';

/** Path of what each agent costs. */
export const AGENTS_METRICS_PATH = '/metrics/agents';

export interface MetricsPage {
  /** Of `text`. */
  readonly contentType: string;
  /** The page as Prometheus reads it, counted at this moment. */
  text(): Promise<string>;
  /** The page of the single agents, at `AGENTS_METRICS_PATH`. */
  agentsText(): string;
  /** A request has been answered, or was left by its client. */
  observe(request: LoggedRequest): void;
}
