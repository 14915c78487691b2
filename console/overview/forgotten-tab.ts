/** Finds tabs that were hidden for hours. They stop watching the fleet. */

/** Longer than a working day, in which operators read the number in the title of a hidden tab. */
export const FORGOTTEN_MS = 10 * 3_600_000;

/** Reports true when the tab was hidden for `FORGOTTEN_MS`, and false when it is shown. Returns a function that stops. */
export function watchForgottenTab(report: (isForgotten: boolean) => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const check = () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(() => report(true), FORGOTTEN_MS);
    else report(false);
  };
  check();
  document.addEventListener('visibilitychange', check);
  return () => {
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', check);
  };
}
