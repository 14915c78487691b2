/** An engine by its plain HTTP API on a kept-alive connection: the minimum of requests that any orchestrator needs. */
import { Agent, request } from 'node:http';

export interface CreateOptions {
  image: string;
  command: readonly string[];
}

export class BareEngine {
  readonly #socketPath: string;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  /** Rejects for any response other than success. */
  call<T>(method: string, path: string, body?: object): Promise<T> {
    const text = body ? JSON.stringify(body) : '';
    const headers = body
      ? { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
      : {};
    const where = { agent: this.#agent, socketPath: this.#socketPath, path: `/v1.41${path}` };
    return new Promise((resolve, reject) => {
      const sent = request({ ...where, method, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const answer = Buffer.concat(chunks).toString();
          if ((response.statusCode ?? 500) >= 400) reject(new Error(`${method} ${path}: ${answer}`));
          else resolve((answer ? JSON.parse(answer) : undefined) as T);
        });
      });
      sent.on('error', reject);
      sent.end(text);
    });
  }

  /** Returns the container's id. */
  async create({ image, command }: CreateOptions): Promise<string> {
    const body = { Image: image, Entrypoint: command, HostConfig: { NetworkMode: 'bridge' } };
    return (await this.call<{ Id: string }>('POST', '/containers/create', body)).Id;
  }

  start(id: string): Promise<void> {
    return this.call('POST', `/containers/${id}/start`);
  }

  stop(id: string): Promise<void> {
    return this.call('POST', `/containers/${id}/stop?t=5`);
  }

  remove(id: string): Promise<void> {
    return this.call('DELETE', `/containers/${id}?force=1`);
  }

  /** Ids of the running containers. */
  async running(): Promise<string[]> {
    return (await this.call<{ Id: string }[]>('GET', '/containers/json')).map(({ Id }) => Id);
  }

  /** Process id of a container's init on this machine. */
  async initOf(id: string): Promise<number> {
    return (await this.call<{ State: { Pid: number } }>('GET', `/containers/${id}/json`)).State.Pid;
  }

  close(): void {
    this.#agent.destroy();
  }
}
