/** Who follows a link and has to sign in at an issuer first comes back to where the link led. */

const STORED_AS = 'everynode-return';

/** Called when the browser leaves for the issuer. */
export function saveReturnPath(): void {
  if (new URLSearchParams(location.search).has('refused')) return;
  sessionStorage.setItem(STORED_AS, location.pathname + location.search);
}

/** Once; a path of the console alone. */
export function restoreReturnPath(): void {
  const path = sessionStorage.getItem(STORED_AS);
  sessionStorage.removeItem(STORED_AS);
  if (path?.startsWith('/console/')) history.replaceState(null, '', path);
  else if (new URLSearchParams(location.search).has('refused')) history.replaceState(null, '', '/console/');
}
