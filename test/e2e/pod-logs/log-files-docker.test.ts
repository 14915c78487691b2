/** The log files of Pods on Docker. */
import { logFiles } from './log-file-checks.js';

logFiles('docker');
