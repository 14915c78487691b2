/** Validation of maintenance windows and freeze periods of a RolloutPolicy. */
import { cronProblems, parseCron } from '../../../shared/calendar/cron-pattern.js';
import { instantOfDateInput, parseDateInput } from '../../../shared/calendar/date-text.js';
import { timeZone, timeZoneProblems } from '../../../shared/calendar/time-zone.js';
import type { FreezePeriod, MaintenanceWindow } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { FieldError } from '../kind.js';
import { validatePositiveInt32 } from '../pods/spec-validation/value-validation.js';
import { invalidValue, notSupported, required } from '../validation/field-error.js';
import { validateLabelSelector } from '../validation/label-selector-validation.js';
import { qualifiedNameProblems } from '../validation/name-rules.js';
import { invalidFor } from '../validation/object-meta-validation.js';

/** Upper limit of a window's duration. A window that stays open longer needs no cron pattern. */
const MAX_DURATION_SECONDS = 31 * 86_400;
const MOMENT_FORM =
  'must be a time like 2026-12-18T06:00:00 (local to the time zone) or 2026-12-18T06:00:00Z';
const SCOPES = ['Replacements', 'Everything'];

function validateZone(
  { timeZone: name, timeZoneLabel }: Pick<MaintenanceWindow, 'timeZone' | 'timeZoneLabel'>,
  field: string,
): FieldError[] {
  return [
    ...(name === undefined ? [] : invalidFor(`${field}.timeZone`, name, timeZoneProblems(name))),
    ...(timeZoneLabel === undefined
      ? []
      : invalidFor(`${field}.timeZoneLabel`, timeZoneLabel, qualifiedNameProblems(timeZoneLabel))),
  ];
}

function validateSchedule(schedule: string | undefined, field: string): FieldError[] {
  if (!schedule) return [required(field)];
  const problems = cronProblems(schedule);
  if (problems.length > 0) return invalidFor(field, schedule, problems);
  return parseCron(schedule).times.every((time) => time % 60 === 0)
    ? []
    : [invalidValue(field, schedule, 'must have five fields: windows open at full minutes')];
}

/** Returns all errors of a window. */
export function validateWindow(window: MaintenanceWindow, field: string): FieldError[] {
  const { schedule, durationSeconds, nodeSelector } = window;
  const isTooLong = durationSeconds > MAX_DURATION_SECONDS;
  return [
    ...validateSchedule(schedule, `${field}.schedule`),
    ...(durationSeconds === undefined
      ? [required(`${field}.durationSeconds`)]
      : validatePositiveInt32(durationSeconds, `${field}.durationSeconds`)),
    ...(isTooLong
      ? [
          invalidValue(
            `${field}.durationSeconds`,
            durationSeconds,
            `must not be greater than ${MAX_DURATION_SECONDS}`,
          ),
        ]
      : []),
    ...validateZone(window, field),
    ...validateLabelSelector(nodeSelector, `${field}.nodeSelector`),
  ];
}

function validateMoment(text: string | undefined, field: string): FieldError[] {
  if (!text) return [required(field)];
  return parseDateInput(text) ? [] : [invalidValue(field, text, MOMENT_FORM)];
}

/** Returns all errors of a freeze period. */
export function validateFreeze(freeze: FreezePeriod, field: string): FieldError[] {
  const { from, to, scope } = freeze;
  const zone = timeZone(freeze.timeZone ?? 'UTC');
  const [start, end] = [from, to].map((text) => (text ? parseDateInput(text) : undefined));
  const isBackwards =
    zone && start && end && instantOfDateInput(zone, end) <= instantOfDateInput(zone, start);
  return [
    ...validateMoment(from, `${field}.from`),
    ...validateMoment(to, `${field}.to`),
    ...(isBackwards ? [invalidValue(`${field}.to`, to, 'must be after from')] : []),
    ...validateZone(freeze, field),
    ...(scope === undefined || SCOPES.includes(scope) ? [] : [notSupported(`${field}.scope`, scope, SCOPES)]),
  ];
}
