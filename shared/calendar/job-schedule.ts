/** Schedules of CronJobs: five fields, or a name such as `@daily` (robfig/cron ParseStandard). */
import { type CronPattern, cronProblems, parseCron } from './cron-pattern.js';

const NAMED: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

function fieldsOf(schedule: string): string[] {
  const text = NAMED[schedule.trim()] ?? schedule;
  return text
    .trim()
    .split(/\s+/)
    .map((field) => field.replace(/^\?/, '*'));
}

/** Returns what is wrong with the schedule, or an empty list. */
export function scheduleProblems(schedule: string): string[] {
  if (schedule.trim().startsWith('@every'))
    return ['@every is not supported: use a schedule with five fields, such as "*/10 * * * *"'];
  if (schedule.trim().startsWith('@') && !NAMED[schedule.trim()])
    return [`unrecognized descriptor: ${schedule.trim()}`];
  const fields = fieldsOf(schedule);
  if (fields.length !== 5)
    return [`expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`];
  return cronProblems(fields.join(' '));
}

/**
 * Throws an Error for a schedule that `scheduleProblems` rejects. If both the day of the month and the day of the week
 * are given, a day needs to match only one of them.
 */
export function parseSchedule(schedule: string): CronPattern {
  const [minute, hour, day = '*', month, weekday = '*'] = fieldsOf(schedule);
  const byDay = parseCron(`${minute} ${hour} ${day} ${month} *`);
  if (weekday === '*') return byDay;
  const byWeekday = parseCron(`${minute} ${hour} * ${month} ${weekday}`);
  if (day === '*') return byWeekday;
  return { ...byDay, matchesDay: (date) => byDay.matchesDay(date) || byWeekday.matchesDay(date) };
}
