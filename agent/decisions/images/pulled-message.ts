/** Messages of finished pulls (pkg/kubelet/images image_manager.go). */

/** Figures of one pull; times in ms, without and with the time in the queue. */
interface PullFigures {
  pullMs: number;
  totalMs: number;
  sizeBytes: number;
}

/** Returns the message of `Pulled`, without figures if the image was present. */
export function pulledText(image: string, pull: PullFigures | undefined): string {
  if (!pull) return `Container image "${image}" already present on machine`;
  const times = `${goDuration(pull.pullMs)} (${goDuration(pull.totalMs)} including waiting)`;
  return `Successfully pulled image "${image}" in ${times}. Image size: ${pull.sizeBytes} bytes.`;
}

/** Returns whole ms in Go's format: `350ms`, `1.25s`, `1m2.3s`, `1h0m0s`. */
export function goDuration(ms: number): string {
  const whole = Math.trunc(ms);
  if (whole === 0) return '0s';
  if (whole < 1000) return `${whole}ms`;
  const seconds = `${(whole % 60_000) / 1000}s`;
  const minutes = Math.floor(whole / 60_000);
  if (minutes === 0) return seconds;
  return minutes < 60 ? `${minutes}m${seconds}` : `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds}`;
}
