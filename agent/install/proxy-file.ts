/** The file with the variables of the HTTP proxy, which systemd passes on to the agent. Mode 0600: it may hold a password. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import {
  type ProxySettings,
  readNoProxy,
  readProxyUrl,
} from '../../shared/link/forward-proxy/proxy-settings.js';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import { writePrivateFile } from '../../shared/process/files/private-file.js';

const HEAD = `# The HTTP proxy of the Everynode agent. After a change: systemctl restart everynode-agent (containers keep running)
`;

/** The variables as given to an installation; an empty one removes the stored value, an absent one keeps it. */
interface GivenProxy {
  httpsProxy: string | undefined;
  noProxy: string | undefined;
}

/** Returns the variables of a program's environment, the upper-case ones first, like Go. */
export function givenProxy(environment: Readonly<Record<string, string | undefined>>): GivenProxy {
  return {
    httpsProxy: environment.HTTPS_PROXY ?? environment.https_proxy,
    noProxy: environment.NO_PROXY ?? environment.no_proxy,
  };
}

/**
 * Returns the settings of an earlier installation with the given changes. Without a proxy there are no exceptions. Throws
 * `ExitError` for invalid text, which it does not quote.
 */
export function proxyWithChanges(path: string, given: GivenProxy): ProxySettings {
  const stored = existsSync(path) ? variablesIn(readFileSync(path, 'utf8')) : {};
  const [url, list] = [given.httpsProxy ?? stored.HTTPS_PROXY ?? '', given.noProxy ?? stored.NO_PROXY ?? ''];
  try {
    const httpsProxy = readProxyUrl(url);
    return httpsProxy ? { httpsProxy, noProxy: readNoProxy(list) } : {};
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ExitError(
      EXIT_CODES.usage,
      `HTTPS_PROXY or NO_PROXY, from the environment or ${path}: ${why}.`,
    );
  }
}

/** Replaces the file, or removes it if there is no proxy. */
export async function writeProxyFile(path: string, { httpsProxy, noProxy }: ProxySettings): Promise<void> {
  if (!httpsProxy) {
    rmSync(path, { force: true });
    return;
  }
  // Quoted for systemd and for install.sh. Neither value contains a quote or a backslash then.
  const variables = {
    HTTPS_PROXY: httpsProxy.href.replaceAll("'", '%27'),
    ...(noProxy && { NO_PROXY: noProxy }),
  };
  const lines = Object.entries(variables).map(([name, value]) => `${name}='${value}'\n`);
  await writePrivateFile(path, HEAD + lines.join(''));
}

function variablesIn(text: string): Partial<Record<string, string>> {
  const found = text.matchAll(/^\s*(HTTPS_PROXY|NO_PROXY)=(["']?)(.*)\2\s*$/gm);
  return Object.fromEntries([...found].map(([, name = '', , value = '']) => [name, value]));
}
