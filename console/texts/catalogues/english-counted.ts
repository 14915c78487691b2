/** English texts with a count, in both forms. The text with the plural is the key. */

export const COUNTED = {
  '{{count}} hosts_one': '{{count}} host',
  '{{count}} hosts_other': '{{count}} hosts',
  '{{count}} times in total_one': '{{count}} time in total',
  '{{count}} times in total_other': '{{count}} times in total',
  '{{count}} others can take over_one': '{{count}} other can take over',
  '{{count}} others can take over_other': '{{count}} others can take over',
  '{{number}} records_one': '{{number}} record',
  '{{number}} records_other': '{{number}} records',
  'up to {{count}} more attempts_one': 'up to {{count}} more attempt',
  'up to {{count}} more attempts_other': 'up to {{count}} more attempts',
  'within the {{count}} windows_one': 'within the {{count}} window',
  'within the {{count}} windows_other': 'within the {{count}} windows',
  '{{when}}, not during the {{count}} freeze periods_one': '{{when}}, not during the {{count}} freeze period',
  '{{when}}, not during the {{count}} freeze periods_other':
    '{{when}}, not during the {{count}} freeze periods',
  'The job runs again on {{count}} hosts that failed or missed it. Hosts that succeeded do nothing._one':
    'The job runs again on {{count}} host that failed or missed it. Hosts that succeeded do nothing.',
  'The job runs again on {{count}} hosts that failed or missed it. Hosts that succeeded do nothing._other':
    'The job runs again on {{count}} hosts that failed or missed it. Hosts that succeeded do nothing.',
  'No further host starts: {{count}} hosts wait. Pods that run continue._one':
    'No further host starts: {{count}} host waits. Pods that run continue.',
  'No further host starts: {{count}} hosts wait. Pods that run continue._other':
    'No further host starts: {{count}} hosts wait. Pods that run continue.',
  '{{count}} hosts may start again._one': '{{count}} host may start again.',
  '{{count}} hosts may start again._other': '{{count}} hosts may start again.',
  '{{count}} of {{hosts}} match._one': '{{count}} of {{hosts}} matches.',
  '{{count}} of {{hosts}} match._other': '{{count}} of {{hosts}} match.',
  '{{count}} hosts of them are offline now._one': '{{count}} host of them is offline now.',
  '{{count}} hosts of them are offline now._other': '{{count}} hosts of them are offline now.',
  '{{count}} more DaemonSets change that you are not allowed to read._one':
    '{{count}} more DaemonSet changes that you are not allowed to read.',
  '{{count}} more DaemonSets change that you are not allowed to read._other':
    '{{count}} more DaemonSets change that you are not allowed to read.',
  '{{count}} Pods without a DaemonSet are evicted._one': '{{count}} Pod without a DaemonSet is evicted.',
  '{{count}} Pods without a DaemonSet are evicted._other': '{{count}} Pods without a DaemonSet are evicted.',
  '{{count}} of the hosts do not exist._one': '{{count}} of the hosts does not exist.',
  '{{count}} of the hosts do not exist._other': '{{count}} of the hosts do not exist.',
  '{{count}} Pods start_one': '{{count}} Pod starts',
  '{{count}} Pods start_other': '{{count}} Pods start',
  '{{count}} Pods stop_one': '{{count}} Pod stops',
  '{{count}} Pods stop_other': '{{count}} Pods stop',
  '{{count}} hosts in the fleet, {{since}} joined since you opened this page._one':
    '{{count}} host in the fleet, {{since}} joined since you opened this page.',
  '{{count}} hosts in the fleet, {{since}} joined since you opened this page._other':
    '{{count}} hosts in the fleet, {{since}} joined since you opened this page.',
  'Restarted {{count}} times, by restart policy {{policy}}._one':
    'Restarted once, by restart policy {{policy}}.',
  'Restarted {{count}} times, by restart policy {{policy}}._other':
    'Restarted {{count}} times, by restart policy {{policy}}.',
  '({{count}} times)_one': '({{count}} time)',
  '({{count}} times)_other': '({{count}} times)',
  'on {{count}} hosts: they get no Pod that uses this key._one':
    'on {{count}} host: it gets no Pod that uses this key.',
  'on {{count}} hosts: they get no Pod that uses this key._other':
    'on {{count}} hosts: they get no Pod that uses this key.',
  '{{count}} more values are not shown. Enter a value to find its hosts._one':
    '{{count}} more value is not shown. Enter a value to find its hosts.',
  '{{count}} more values are not shown. Enter a value to find its hosts._other':
    '{{count}} more values are not shown. Enter a value to find its hosts.',
  '{{count}} hosts without a value:_one': '{{count}} host without a value:',
  '{{count}} hosts without a value:_other': '{{count}} hosts without a value:',
} as const;
