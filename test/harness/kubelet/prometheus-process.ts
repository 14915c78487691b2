/** A real Prometheus (Debian's package `prometheus`) with its own folder. */
import { execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../basics/test-sockets.js';
import { until } from '../basics/wait-until.js';

/** Returns the reason why there is no Prometheus, or undefined. */
export function whyNoPrometheus(): string | undefined {
  try {
    execFileSync('prometheus', ['--version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'no prometheus on the PATH';
  }
}

interface Series {
  metric: Record<string, string>;
  value: [time: number, value: string];
}

interface RunningPrometheus {
  /** Runs an instant query. */
  query(expression: string): Promise<Series[]>;
  stop(): Promise<void>;
}

/** Starts Prometheus with these scrape configurations. Its files are in `folder`. */
export async function startPrometheus(
  folder: string,
  scrapeConfigs: readonly object[],
): Promise<RunningPrometheus> {
  const address = `127.0.0.1:${await freePort()}`;
  const config = join(folder, 'prometheus.yml');
  // JSON is YAML.
  writeFileSync(config, JSON.stringify({ global: { scrape_interval: '2s' }, scrape_configs: scrapeConfigs }));
  const child = spawn(
    'prometheus',
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${address}`,
    ],
    { stdio: 'ignore' },
  );
  const ended = new Promise<void>((done) => child.on('exit', () => done()));
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  try {
    await until(
      () =>
        fetch(`http://${address}/-/ready`).then(
          ({ ok }) => ok,
          () => false,
        ),
      { what: 'Prometheus to be ready' },
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    stop,
    query: async (expression) => {
      const response = await fetch(`http://${address}/api/v1/query?query=${encodeURIComponent(expression)}`);
      const { data } = (await response.json()) as { data: { result: Series[] } };
      return data.result;
    },
  };
}
