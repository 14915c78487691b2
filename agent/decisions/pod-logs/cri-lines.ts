/**
 * Converts the log files of engines to the CRI's log format: `TIME STREAM TAG TEXT` (the kubelet's
 * pkg/kubelet/kuberuntime/logs/logs.go). Each line is converted on its own, so the same input always gives the same
 * bytes, wherever a read begins and ends. An interrupted copy continues by that.
 */

/** `json-file` is Docker's format. `k8s-file` is Podman's, which is the CRI's except for local times. */
export type EngineLogFormat = 'json-file' | 'k8s-file';

/** Podman writes a container's bytes unchanged. `latin1` maps each byte to one character and back. */
export const LOG_ENCODING = { 'json-file': 'utf8', 'k8s-file': 'latin1' } as const;

/** Docker splits a longer line into entries of this size (daemon/logger/copier.go), as containerd does. */
const PART_BYTES = 16 * 1024;
const MAX_BYTES_PER_CHARACTER = 3;

interface CriLines {
  /** Lines in CRI format, each with its newline. */
  text: string;
  lines: number;
  /** Lines that are not in the engine's format and were left out, such as a line torn by a power cut. */
  malformed: number;
}

/** Converts whole lines. `text` ends with a newline, or is empty. */
export function toCriLines(text: string, format: EngineLogFormat): CriLines {
  const convert = format === 'json-file' ? fromJsonFile : fromK8sFile;
  const converted: string[] = [];
  let malformed = 0;
  let start = 0;
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
    const line = convert(text.slice(start, end));
    if (line === undefined) malformed += 1;
    else converted.push(line);
    start = end + 1;
  }
  return { text: converted.join(''), lines: converted.length, malformed };
}

function fromJsonFile(line: string): string | undefined {
  const entry = parsed(line);
  const { log, stream, time } = entry;
  if (typeof log !== 'string' || typeof time !== 'string') return undefined;
  if (stream !== 'stdout' && stream !== 'stderr') return undefined;
  const newline = log.indexOf('\n');
  if (newline >= 0 && newline < log.length - 1) return undefined;
  if (newline >= 0) return `${time} ${stream} F ${log}`;
  // Docker also writes the last text of a container without a newline. It is not followed by the rest of its line.
  return `${time} ${stream} ${isFullPart(log) ? 'P' : 'F'} ${log}\n`;
}

function parsed(line: string): { log?: unknown; stream?: unknown; time?: unknown } {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === 'object' && entry !== null ? entry : {};
  } catch {
    return {};
  }
}

function isFullPart(log: string): boolean {
  if (log.length >= PART_BYTES) return true;
  return log.length * MAX_BYTES_PER_CHARACTER >= PART_BYTES && Buffer.byteLength(log) >= PART_BYTES;
}

/** Columns of `2016-10-06T00:17:09.669794202+00:00 stdout F text`, as conmon writes it (src/ctr_logging.c). */
const SECONDS_AT = 17;
const ZONE_AT = 29;
const STREAM_AT = 36;
const TAG_AT = 43;
const TEXT_AT = 45;

function fromK8sFile(line: string): string | undefined {
  const stream = line.slice(STREAM_AT, TAG_AT);
  const tag = line.slice(TAG_AT, TEXT_AT);
  if (line.charAt(STREAM_AT - 1) !== ' ' || (stream !== 'stdout ' && stream !== 'stderr ')) return undefined;
  if (tag !== 'F ' && tag !== 'P ') return undefined;
  const minute = utcMinute(line.slice(0, SECONDS_AT), line.slice(ZONE_AT, STREAM_AT - 1));
  if (minute === undefined) return undefined;
  return `${minute}${line.slice(SECONDS_AT, ZONE_AT)}Z ${line.slice(STREAM_AT)}\n`;
}

/** The last conversion. Almost all lines of a file are of the same minute as the line before. */
let cached: { minute: string; zone: string; utc: string } | undefined;

/** Returns a minute such as `2016-10-06T02:17:` with an offset such as `+02:00` in UTC. */
function utcMinute(minute: string, zone: string): string | undefined {
  if (cached && cached.minute === minute && cached.zone === zone) return cached.utc;
  const time = Date.parse(`${minute}00${zone}`);
  if (Number.isNaN(time)) return undefined;
  const utc = new Date(time).toISOString().slice(0, SECONDS_AT);
  cached = { minute, zone, utc };
  return utc;
}
