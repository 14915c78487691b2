/** The setting `--kubelet-port`. */

/** The kubelet's default port. */
export const KUBELET_PORT = 10_250;

/** `auto`: the default port, only if the agent is root. 0 = not served. */
type KubeletPortSetting = 'auto' | number;

/** Parses `auto` or a port. Throws an Error that names the expected format. */
export function parseKubeletPort(text: string): KubeletPortSetting {
  if (text === 'auto') return text;
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw new Error('must be auto, 0 or a port up to 65535');
  return port;
}

/** Returns the port to listen at; 0 = none. */
export function kubeletPort(setting: KubeletPortSetting, isRoot: boolean): number {
  if (setting !== 'auto') return setting;
  return isRoot ? KUBELET_PORT : 0;
}
