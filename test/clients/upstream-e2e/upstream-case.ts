/** One assertion of upstream's e2e tests, as commands of kubectl. */

/**
 * A command and a pattern of its output and errors. NS stands for the namespace of the case, LAST for the first group of
 * the pattern before. A command that begins with `!` must fail. One that begins with `~` is repeated until it succeeds
 * and the pattern matches.
 */
export type Step = readonly [command: string, expected: RegExp, input?: object | string];

export interface UpstreamCase {
  /** Upstream's title, without `[Conformance]`. */
  title: string;
  /** Upstream's file below test/e2e. */
  file: string;
  /** Resources that upstream's test needs, as `resource.group`. The case is skipped while one of them is not served. */
  needs?: readonly string[];
  /**
   * Words of docs/differences-from-kubernetes.md, if the assertion does not hold on purpose. The steps then state what
   * happens instead.
   */
  deviation?: string;
  steps: readonly Step[];
}

export function pod(name: string, more: object = {}, metadata: object = {}): object {
  const spec = { containers: [{ name: 'main', image: 'app:1' }], ...more };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, labels: { app: name }, ...metadata }, spec };
}

export function configMap(name: string, more: object = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, labels: { app: 'e2e' } },
    data: { a: '1' },
    ...more,
  };
}

export function daemonSet(name: string, image: string, nodeSelector: object = {}): object {
  const labels = { app: name };
  const spec = { containers: [{ name: 'main', image }], nodeSelector };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, labels },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  };
}
