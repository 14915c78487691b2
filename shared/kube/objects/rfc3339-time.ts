/** Times as Kubernetes' clients decode them: RFC 3339 (Go's time.Parse). */

const FORM = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/**
 * True for a text that a client decodes as a time. JavaScript also takes 30 February and 24:00 for times; a client
 * refuses to decode a whole list of Pods in which one of them occurs.
 */
export function isTimeText(text: string): boolean {
  const [, year, month, day, hour] = FORM.exec(text) ?? [];
  if (year === undefined || hour === '24' || Number.isNaN(Date.parse(text))) return false;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  return date.getUTCDate() === Number(day);
}
