/** The time zone in which a host stands, as its labels tell. */

/** `Europe.Berlin`, `America.Argentina.Salta`: a label cannot hold the slash. */
const AREA_AND_PLACE = /^[A-Z][A-Za-z]+(\.[A-Z][\w-]+)+$/;

/** The name of the first zone among the labels' values, in order of their keys; undefined: none tells. Pure. */
export function hostTimeZone(labels: Readonly<Record<string, string>> = {}): string | undefined {
  return Object.keys(labels)
    .sort()
    .map((key) => labels[key] ?? '')
    .filter((value) => AREA_AND_PLACE.test(value))
    .map((value) => value.replaceAll('.', '/'))
    .find(isZone);
}

function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat(undefined, { timeZone: name }).format(0) !== '';
  } catch {
    return false;
  }
}

/** `22 Nov 2026, 15:12:03 GMT+1`, on the clocks of that zone; of the viewer's when absent. */
export function exactTimeText(at: string, timeZone?: string): string {
  return new Date(at).toLocaleString(undefined, {
    ...{ day: 'numeric', month: 'short', year: 'numeric' },
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'short' },
    ...(timeZone ? { timeZone } : {}),
  });
}
