/** Cookies of a request. */
import type { IncomingHttpHeaders } from 'node:http';

/** The value of one; undefined when it is not there, or empty. */
export function cookieOf({ cookie = '' }: IncomingHttpHeaders, name: string): string | undefined {
  const found = cookie.split(/; */).find((part) => part.startsWith(`${name}=`));
  return found?.slice(name.length + 1) || undefined;
}
