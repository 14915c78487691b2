/** Pages and large components that are loaded on demand, also while the coordinator restarts and after it was upgraded. */
import { type ComponentType, type LazyExoticComponent, lazy } from 'react';
import { reportContact } from '../api/coordinator-contact.js';

const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;
const RELOADED_AT = 'everynode-reloaded-at';
/** A second reload within this time would not help either. */
const RELOAD_PAUSE_MS = 60_000;

/**
 * Returns a component that loads at its first use. While the coordinator is unreachable, loading goes on. Without
 * that, one click during a restart would leave an empty page.
 */
export function lazyPage<Props = object>(
  load: () => Promise<ComponentType<Props>>,
): LazyExoticComponent<ComponentType<Props>> {
  return lazy(async () => ({ default: await loadPage(load) }));
}

async function loadPage<Page>(load: () => Promise<Page>): Promise<Page> {
  for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(retryMs * 2, MAX_RETRY_MS)) {
    try {
      const page = await load();
      reportContact(load, false);
      return page;
    } catch (error) {
      if (await isReachable()) return reloadOnce(load, error);
      reportContact(load, true);
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  }
}

async function isReachable(): Promise<boolean> {
  return fetch('/livez').then(
    () => true,
    () => false,
  );
}

/**
 * The coordinator is there, but not the script: it was upgraded, and the scripts of its console have other names. Some
 * browsers also remember that a script failed. A reload solves both. Throws `error` if there was a reload just now.
 */
function reloadOnce(owner: object, error: unknown): Promise<never> {
  reportContact(owner, false);
  const since = Date.now() - Number(sessionStorage.getItem(RELOADED_AT) ?? 0);
  if (since < RELOAD_PAUSE_MS) throw error;
  sessionStorage.setItem(RELOADED_AT, String(Date.now()));
  location.reload();
  return new Promise(() => undefined);
}
