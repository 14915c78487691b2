/** Loads the page's stylesheet again if its download failed. Browsers start the scripts of a page without styles too. */

/** A changed network cuts off several downloads within seconds. A stylesheet that is blocked would not load later either. */
const RETRIES_MS = [0, 500, 1000, 2000, 4000, 8000];

/**
 * Resolves when the page has its styles, or after the last retry. Call it before the first render: without styles the
 * page shows both navigations, and the backdrop of a dialog covers the buttons of the dialog.
 */
export async function loadMissingStyles(): Promise<void> {
  for (const retryMs of RETRIES_MS) {
    if (hasStyles()) return;
    await new Promise((resolve) => setTimeout(resolve, retryMs));
    await Promise.all([...document.querySelectorAll('link')].map(loadStylesheet));
  }
}

/** Chromium gives a link whose download failed an empty `sheet`, so only a property of the theme shows the difference. */
function hasStyles(): boolean {
  return getComputedStyle(document.documentElement).getPropertyValue('--page') !== '';
}

/** Resolves also after another failure. */
function loadStylesheet(link: HTMLLinkElement): Promise<void> | undefined {
  if (link.rel !== 'stylesheet') return undefined;
  const again = document.createElement('link');
  again.rel = 'stylesheet';
  again.href = link.href;
  return new Promise((resolve) => {
    again.onload = () => resolve();
    again.onerror = () => resolve();
    link.replaceWith(again);
  });
}
