/** Converts the engine's inspect responses to observed containers. Pure. */
import type { EngineState, ObservedContainer } from '../runtime-driver.js';
import { LABEL, toIdentity } from './docker-convert.js';

/** Response of `GET /containers/ID/json`, as far as the agent reads it. */
export interface InspectResponse {
  Id: string;
  Created: string;
  /** Image id. */
  Image: string;
  Config: { Labels: Record<string, string> | null; Tty?: boolean };
  /** Path of the log file on the engine's host. */
  LogPath?: string;
  HostConfig: { NetworkMode?: string; IpcMode?: string };
  State: {
    Status: string;
    ExitCode: number;
    OOMKilled: boolean;
    Error: string;
    StartedAt: string;
    FinishedAt: string;
    /** Process id on the engine's host. 0 unless running. */
    Pid?: number;
  };
  NetworkSettings: { Networks: Record<string, { IPAddress: string } | null> | null };
}

/** Exit code of a container whose end the engine did not record, as a kubelet reports it (ContainerStatusUnknown). */
const KILLED_EXIT_CODE = 137;

/** `imageID` is the image's digest if the caller knows one, else its id. */
export function toObservedContainer(response: InspectResponse, imageID: string): ObservedContainer {
  const labels = response.Config.Labels ?? {};
  const startedAt = toTime(response.State.StartedAt);
  const reported = toState(response.State.Status);
  // After a power cut Podman reports a container that ran as created. Its start again would run a Pod twice that runs once.
  const isLost = reported === 'created' && startedAt !== undefined;
  const state = isLost ? 'exited' : reported;
  // Docker can record the start of a container that ran very briefly after its end.
  const endedAt = state === 'exited' ? (toTime(response.State.FinishedAt) ?? startedAt) : undefined;
  const finishedAt = endedAt === undefined ? undefined : Math.max(endedAt, startedAt ?? 0);
  const ip = addressOf(response.NetworkSettings);
  return {
    id: response.Id,
    identity: toIdentity(labels),
    state,
    image: labels[LABEL.image] ?? '',
    imageID,
    createdAt: toTime(response.Created) ?? 0,
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(finishedAt === undefined ? {} : { finishedAt }),
    ...(state === 'exited' ? { exitCode: isLost ? KILLED_EXIT_CODE : response.State.ExitCode } : {}),
    oomKilled: response.State.OOMKilled,
    ...(response.State.Error ? { error: response.State.Error } : {}),
    ...(response.LogPath ? { logPath: response.LogPath } : {}),
    ...(ip ? { ip } : {}),
    labels: withoutIdentityLabels(labels),
  };
}

/** Returns the container's address on the engine's bridge. */
export function addressOf({ Networks }: InspectResponse['NetworkSettings']): string | undefined {
  return Object.values(Networks ?? {}).find((network) => network?.IPAddress)?.IPAddress;
}

const IDENTITY_LABELS = new Set<string>(Object.values(LABEL));

/** Returns the labels that the agent set at create and those of the image, without the agent's identity labels. */
function withoutIdentityLabels(labels: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !IDENTITY_LABELS.has(key)));
}

/** Maps Docker's states, and Podman's `configured`, `initialized`, `stopping` and `stopped`. */
function toState(status: string): EngineState {
  switch (status) {
    case 'created':
    case 'configured':
    case 'initialized':
      return 'created';
    case 'running':
    case 'paused':
    case 'restarting':
    case 'stopping':
      return 'running';
    default:
      return 'exited';
  }
}

/** Both engines use the year 1 for "never". */
function toTime(text: string): number | undefined {
  const time = Date.parse(text);
  return Number.isFinite(time) && time > 0 ? time : undefined;
}
