/** `kubectl logs` on Docker. */
import { podLogs } from './pod-log-checks.js';

podLogs('docker');
