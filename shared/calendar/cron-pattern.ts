/** Parses cron patterns. Only this file imports node-cron. */
import { createTask, validateDetailed } from 'node-cron';

/** A calendar date without a time zone. `month` starts at 1. */
export interface CalendarDay {
  year: number;
  month: number;
  day: number;
}

/** A parsed cron pattern: the days that it matches, and the times of day. */
export interface CronPattern {
  matchesDay(day: CalendarDay): boolean;
  /** Seconds since midnight, ascending. Never empty. */
  times: readonly number[];
  /** True if the pattern matches in every hour, so that it also matches in an hour that clocks repeat. */
  everyHour: boolean;
}

/** Returns what is wrong with the pattern, or an empty list. */
export function cronProblems(pattern: string): string[] {
  const { valid, errors } = validateDetailed(pattern);
  return valid ? [] : errors.map(({ field, message }) => `is not a valid cron pattern: ${field}: ${message}`);
}

/** Throws an Error for a pattern that `cronProblems` rejects. */
export function parseCron(pattern: string): CronPattern {
  const { fields, errors } = validateDetailed(pattern);
  if (!fields) throw new Error(errors.map(({ message }) => message).join('; '));
  const times = fields.hour
    .flatMap((hour) => fields.minute.map((minute) => hour * 3600 + minute * 60))
    .flatMap((minute) => fields.second.map((second) => minute + second))
    .sort((a, b) => a - b);
  const [first = 0] = times;
  // node-cron decides which days match, including last days and weekdays by number. Dates are the same in every zone,
  // so the task runs in UTC.
  const task = createTask(pattern, () => undefined, { timezone: 'UTC' });
  void task.destroy();
  // node-cron formats each date it matches, which takes 20 µs. Most days of a sparse pattern need no node-cron.
  const days = fields.dayOfMonth.every((one) => typeof one === 'number') ? fields.dayOfMonth : undefined;
  const mayMatch = (month: number, day: number) =>
    fields.month.includes(month) && (days === undefined || days.includes(day));
  return {
    matchesDay: ({ year, month, day }) =>
      mayMatch(month, day) && task.match(new Date(Date.UTC(year, month - 1, day) + first * 1000)),
    times,
    everyHour: fields.hour.length === 24,
  };
}
