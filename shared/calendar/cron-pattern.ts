/** Cron patterns: the only importer of node-cron. */
import { createTask, validateDetailed } from 'node-cron';

/** A date of the calendar, wherever: `month` from 1. */
export interface CalendarDay {
  year: number;
  month: number;
  day: number;
}

/** A cron pattern as the days it matches and the times of these days. */
export interface CronPattern {
  matchesDay(day: CalendarDay): boolean;
  /** Seconds since midnight, ascending; at least one. */
  times: readonly number[];
  /** It matches in each hour: a clock that is set back has it match again. */
  everyHour: boolean;
}

/** What is wrong with a pattern, in words; [] = nothing. */
export function cronProblems(pattern: string): string[] {
  const { valid, errors } = validateDetailed(pattern);
  return valid ? [] : errors.map(({ field, message }) => `is no cron pattern: ${field}: ${message}`);
}

/** Throws an Error for what `cronProblems` objects to. */
export function parseCron(pattern: string): CronPattern {
  const { fields, errors } = validateDetailed(pattern);
  if (!fields) throw new Error(errors.map(({ message }) => message).join('; '));
  const times = fields.hour
    .flatMap((hour) => fields.minute.map((minute) => hour * 3600 + minute * 60))
    .flatMap((minute) => fields.second.map((second) => minute + second))
    .sort((a, b) => a - b);
  const [first = 0] = times;
  // Days are the library's own matter: last days, weekdays by number. A calendar is the same in any zone, so UTC's is asked.
  const task = createTask(pattern, () => undefined, { timezone: 'UTC' });
  void task.destroy();
  return {
    matchesDay: ({ year, month, day }) => task.match(new Date(Date.UTC(year, month - 1, day) + first * 1000)),
    times,
    everyHour: fields.hour.length === 24,
  };
}
