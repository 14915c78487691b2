/** The guided tour of `everynode demo`. Pure. */
import { DEMO_NAMESPACE, OFFLINE_SITE, SIGNAGE, TILL } from './demo-fleet.js';

/** A command, and what to look for in its output. */
interface Stop {
  command: string;
  look: string;
}

/** `fix`: path of the manifest of the repaired release. */
export function tourStops(fix: string): Stop[] {
  const ns = `-n ${DEMO_NAMESPACE}`;
  return [
    {
      command: 'kubectl get nodes -L site,tz,model',
      look: `200 hosts in five sites. The site ${OFFLINE_SITE} is offline: its hosts are NotReady. Their Pods keep running.`,
    },
    {
      command: `everynode rollout status ds/${TILL} ${ns} --no-watch`,
      look: 'Release 1.1 has stopped in the first wave, because more hosts failed than the policy allows. It exits with 6.',
    },
    {
      command: `everynode rollout hosts ds/${TILL} ${ns} --code Failed`,
      look: 'The hosts that failed are all of model b.',
    },
    {
      command: `everynode why ds/${TILL} ${ns}`,
      look: 'The whole fleet in a few lines: how many hosts are in which state, and why.',
    },
    {
      command: `everynode rollout hosts ds/${SIGNAGE} ${ns} --code OutsideWindow`,
      look: 'Signage is updated between 2 and 5 at night. Each host waits for the night of its own time zone.',
    },
    {
      command: `everynode plan -f ${fix}`,
      look: 'What release 1.2 would do, host by host and wave by wave, before anything is changed. It exits with 2.',
    },
    {
      command: `everynode rollout abort ds/${TILL} ${ns} --reason "crashes on model b"`,
      look: 'The hosts with release 1.1 return to 1.0. Repeat the second command to see it.',
    },
    {
      command: `everynode audit -n ${DEMO_NAMESPACE} --since 1h`,
      look: 'Who changed what: the releases, and your abort with the result.',
    },
  ];
}

export function tourLines(fix: string): string[] {
  return tourStops(fix).flatMap(({ command, look }, index) => [`${index + 1}. ${command}`, `     ${look}`]);
}
