/** Runs the handlers of probes and lifecycle hooks (pkg/kubelet/prober, pkg/kubelet/lifecycle). */
import type { Handler, Probe } from '../../shared/kube/pods/probe-types.js';
import type { Clock } from '../../shared/process/time/clock.js';
import { type ProbeResult, probeTimeoutMs } from '../decisions/probes/probe-state.js';
import { runContainerCommand } from '../runtime/container-command.js';
import type { RuntimeDriver } from '../runtime/runtime-driver.js';
import { probeGrpc } from './probe-grpc.js';
import { probeHttp, sendHookRequest } from './probe-http.js';
import type { ProbeTarget } from './probe-target.js';
import { probeTcp } from './probe-tcp.js';

export interface ProbeHandlers {
  /** Runs a probe once, limited by its timeout. Never throws. */
  probe(probe: Probe, target: ProbeTarget): Promise<ProbeResult>;
  /** Resolves when the hook has completed within `deadlineMs`. Throws an Error with the reason otherwise. */
  runHook(hook: Handler, target: ProbeTarget, deadlineMs: number): Promise<void>;
}

/** Handlers for containers of a real engine. */
export class ContainerProbeHandlers implements ProbeHandlers {
  readonly #driver: Pick<RuntimeDriver, 'exec'>;
  readonly #clock: Clock;

  constructor(driver: Pick<RuntimeDriver, 'exec'>, clock: Clock) {
    this.#driver = driver;
    this.#clock = clock;
  }

  async probe(probe: Probe, target: ProbeTarget): Promise<ProbeResult> {
    try {
      return await this.#probe(probe, target, probeTimeoutMs(probe));
    } catch (error) {
      return { kind: 'error', message: error instanceof Error ? error.message : String(error) };
    }
  }

  async runHook(hook: Handler, target: ProbeTarget, deadlineMs: number): Promise<void> {
    if (hook.exec) {
      const command = hook.exec.command ?? [];
      const result = await runContainerCommand(this.#driver, target.id, command, deadlineMs, this.#clock);
      if (result.kind === 'timedOut') throw new Error(`command "${command.join(' ')}" timed out`);
      if (result.exitCode !== 0) throw new Error(`command exited with ${result.exitCode}`);
    } else if (hook.httpGet) {
      await sendHookRequest(hook.httpGet, target, AbortSignal.timeout(deadlineMs));
    } else if (hook.sleep) {
      await this.#sleep(Math.min(hook.sleep.seconds * 1000, deadlineMs));
    } else {
      throw new Error('the hook has no exec, httpGet or sleep');
    }
  }

  async #probe(probe: Probe, target: ProbeTarget, timeoutMs: number): Promise<ProbeResult> {
    if (probe.exec) return this.#probeExec(probe.exec.command ?? [], target, timeoutMs);
    if (probe.httpGet) return probeHttp(probe.httpGet, target, timeoutMs);
    if (probe.tcpSocket) return probeTcp(probe.tcpSocket, target, timeoutMs);
    if (probe.grpc) return probeGrpc(probe.grpc, target, timeoutMs);
    throw new Error('missing probe handler');
  }

  async #probeExec(command: readonly string[], target: ProbeTarget, timeoutMs: number): Promise<ProbeResult> {
    const result = await runContainerCommand(this.#driver, target.id, command, timeoutMs, this.#clock);
    if (result.kind === 'timedOut') {
      return { kind: 'failure', message: `command "${command.join(' ')}" timed out` };
    }
    if (result.exitCode === 0) return { kind: 'success' };
    return { kind: 'failure', message: result.output.toString('utf8') };
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.#clock.after(ms, resolve));
  }
}
