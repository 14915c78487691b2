/** `kubectl logs` on Podman. */
import { podLogs } from './pod-log-checks.js';

podLogs('podman');
