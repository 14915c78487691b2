/** Restores the requested page after a sign-in at the issuer. */

const STORED_AS = 'everynode-return';

/** Called before the browser leaves for the issuer. */
export function saveReturnPath(): void {
  if (new URLSearchParams(location.search).has('refused')) return;
  sessionStorage.setItem(STORED_AS, location.pathname + location.search);
}

/** Restores the path once. Only paths of the console are accepted. */
export function restoreReturnPath(): void {
  const path = sessionStorage.getItem(STORED_AS);
  sessionStorage.removeItem(STORED_AS);
  if (path?.startsWith('/console/')) history.replaceState(null, '', path);
  else if (new URLSearchParams(location.search).has('refused')) history.replaceState(null, '', '/console/');
}
