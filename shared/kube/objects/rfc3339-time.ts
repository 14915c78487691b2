/** Times in the format that Kubernetes clients decode: RFC 3339 (Go's time.Parse). */

const FORM = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/**
 * Returns true if clients can decode the text as a time. JavaScript also accepts 30 February and 24:00. One such time
 * makes clients reject the whole list that contains it.
 */
export function isTimeText(text: string): boolean {
  const [, year, month, day, hour] = FORM.exec(text) ?? [];
  if (year === undefined || hour === '24' || Number.isNaN(Date.parse(text))) return false;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  return date.getUTCDate() === Number(day);
}
