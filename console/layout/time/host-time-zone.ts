/** Time zone of a host, from its labels. */
import { currentFormatTag } from '../../texts/translate.js';

/** Label values such as `Europe.Berlin` or `America.Argentina.Salta`, which cannot contain a slash. */
const AREA_AND_PLACE = /^[A-Z][A-Za-z]+(\.[A-Z][\w-]+)+$/;

/** Returns the first label value that is a time zone, in the order of keys, or undefined. Pure. */
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

/** Formats `22 Nov 2026, 15:12:03 GMT+1` in the given time zone, or in the viewer's. */
export function exactTimeText(at: string, timeZone?: string): string {
  return new Date(at).toLocaleString(currentFormatTag(), {
    hourCycle: 'h23',
    ...{ day: 'numeric', month: 'short', year: 'numeric' },
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'short' },
    ...(timeZone ? { timeZone } : {}),
  });
}
