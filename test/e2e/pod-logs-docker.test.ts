/** `kubectl logs` on Docker. */
import { podLogs } from './pod-logs.js';

podLogs('docker');
