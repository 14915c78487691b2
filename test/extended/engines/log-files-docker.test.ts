/** The log files of Pods on Docker. */
import { logFiles } from '../../e2e/pod-logs/log-file-checks.js';

logFiles('docker');
