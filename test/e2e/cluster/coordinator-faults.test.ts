/** A rollout continues when its leader is paused, isolated, upgraded or without etcd. */
import { coordinatorFaults, FIRST_RULES } from './coordinator-fault-rules.js';

coordinatorFaults('one for each way to lose a leader', FIRST_RULES);
