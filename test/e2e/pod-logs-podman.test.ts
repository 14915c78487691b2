/** `kubectl logs` on Podman. */
import { podLogs } from './pod-logs.js';

podLogs('podman');
