/** Faults that the simulation found without a rollout policy, each as a short history. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import '../../harness/processes/low-priority.js';
import {
  after,
  daemonSet,
  KILLED,
  outcomeOf,
  outcomesNear,
  outcomesOf,
  SECOND,
  setImage,
} from './case-builders.js';
import { withWitness } from './case-witness.js';

describe('faults that the simulation found', () => {
  test(
    'a deleted Pod that ended just before its host lost its cache is removed from the store',
    withWitness(
      [
        /Pod (?<old>\S+) marked for deletion/,
        /Pod <old> changed: status \(Succeeded/,
        /host-1 +the agent is killed/,
        /desired cache is damaged/,
        /Pod <old> removed/,
      ],
      () =>
        outcomesOf(
          1,
          [
            after(1, daemonSet('app:1', { selector: 'a' })),
            after(9, {
              kind: 'kill agent',
              node: 'host-1',
              crashAt: KILLED,
              downMs: SECOND,
              damagesCache: true,
            }),
            after(8.3, { kind: 'delete pod', node: 'host-1', index: 0, force: false }),
            // The Pod's end is reported, but its container cannot be removed.
            after(0.1, { kind: 'stop engine', node: 'host-1', forMs: 6 * SECOND, killsContainers: false }),
          ],
          20,
        ),
    ),
  );

  test(
    'an agent that restarts without a deletion on disk does not start the Pod that it reported as stopped',
    withWitness(
      [
        /Pod (?<old>\S+) created on host-1/,
        /host-1 +the agent is killed/,
        /Pod <old> marked for deletion/,
        /host-1 +the agent starts/,
        /Pod <old> removed/,
        /Pod (?<next>\S+) created on host-1/,
        /host-1 +a container of <next> runs/,
      ],
      () =>
        outcomesOf(
          2,
          [
            after(1, daemonSet('app:slow1')),
            after(0.02, {
              kind: 'kill agent',
              node: 'host-1',
              crashAt: { operation: 5, side: 'before' },
              downMs: 5 * SECOND,
              damagesCache: false,
            }),
            after(2.8, setImage('app:1')),
          ],
          20,
        ),
    ),
  );

  test(
    'an agent killed before a deletion is on disk does not start the ended Pod next to its successor',
    withWitness(
      [
        /Pod (?<old>\S+) marked for deletion/,
        /Pod <old> changed: status \(Succeeded/,
        /Pod (?<next>\S+) created on host-1/,
        /host-1 +a container of <next> runs/,
        /host-1 +the agent is killed/,
        /host-1 +the agent starts/,
        /agent connected .*"host-1"/,
      ],
      async () => {
        const steps = [
          after(1, daemonSet('app:1')),
          after(20, {
            kind: 'kill agent',
            node: 'host-1',
            crashAt: KILLED,
            downMs: 60 * SECOND,
            damagesCache: false,
          }),
          after(9.2, { kind: 'delete pod', node: 'host-1', index: 0, force: false }),
        ];
        // Only these seeds delay the right disk write.
        return Promise.all(
          ['case-167', 'case-292'].map((seed) => outcomeOf({ seed, nodes: 1, speed: 2, steps })),
        );
      },
    ),
  );

  test(
    'after a power cut a Pod does not start next to its predecessor, if the disk lacks the end of the predecessor',
    withWitness(
      [
        /Pod (?<old>\S+) created on host-1/,
        /host-1 +power cut/,
        /host-1 +boots/,
        /host-1 +a container of <old> runs/,
        /Pod <old> removed/,
        /Pod (?<next>\S+) created on host-1/,
        /host-1 +power cut/,
        /host-1 +boots/,
        /host-1 +a container of <next> runs/,
      ],
      () =>
        // Only these seeds delay the right disk write.
        outcomesNear({
          ...{ seed: 'all-57', nodes: 2, speed: 2 },
          steps: [
            after(
              0.1,
              daemonSet('app:broken', { name: 'beta', strategy: { type: 'OnDelete' }, graceSeconds: 10 }),
            ),
            after(1.581, { kind: 'cut cable', node: 'host-1', forMs: 90 * SECOND }),
            after(0.002, { kind: 'cut power', node: 'host-1', downMs: 10 * SECOND, damagesCache: false }),
            after(17.153, { kind: 'stop engine', node: 'host-1', forMs: 30 * SECOND, killsContainers: true }),
            after(86.812, { kind: 'stop coordinator', downMs: 60_939 }),
            after(0.018, { kind: 'reset connections', node: 'host-1' }),
            after(79.918, { kind: 'delete pod', node: 'host-1', index: 1, force: true }),
            after(1.866, { kind: 'cut power', node: 'host-1', downMs: 10 * SECOND, damagesCache: false }),
          ],
        }),
    ),
  );

  test(
    'a late report of an earlier end does not end a Pod that returned with its Node',
    withWitness(
      [
        /Pod (?<old>\S+) changed: status \(Running Ready=True/,
        /Node host-1 removed/,
        /host-1 +the engine stops, its containers with it/,
        /host-1 +the agent is killed/,
        /Node host-1 created/,
        /host-1 +a container of <old> runs/,
        /Pod <old> removed/,
      ],
      () =>
        outcomesNear({
          ...{ seed: 'all-3004885', nodes: 1, speed: 1 },
          steps: [
            after(
              0.1,
              daemonSet('app:slow2', {
                name: 'beta',
                strategy: { type: 'RollingUpdate', maxUnavailable: 2 },
                graceSeconds: 10,
              }),
            ),
            after(5.539, { kind: 'set strategy', name: 'beta', strategy: { type: 'OnDelete' } }),
            after(2.678, { kind: 'delete node', node: 'host-1' }),
            after(0.148, { kind: 'stop engine', node: 'host-1', forMs: 8 * SECOND, killsContainers: true }),
            after(0.796, { kind: 'set selector', name: 'beta', selector: 'b' }),
            after(0.295, {
              kind: 'kill agent',
              node: 'host-1',
              crashAt: { operation: 8, side: 'before' },
              downMs: 5_413,
              damagesCache: false,
            }),
          ],
        }),
    ),
  );

  test(
    'a replacement waits for the containers of its predecessor on a host that lost its cache',
    withWitness(
      [
        /host-1 +the agent is killed/,
        /Pod (?<old>\S+) removed/,
        /Pod (?<next>\S+) created on host-1/,
        /desired cache is damaged/,
        /containers of unknown Pods found/,
        /host-1 +a container of <next> runs/,
      ],
      () =>
        outcomesOf(2, [
          after(1, daemonSet('app:stubborn', { graceSeconds: 10 })),
          after(10, {
            kind: 'kill agent',
            node: 'host-1',
            crashAt: KILLED,
            downMs: 60 * SECOND,
            damagesCache: true,
          }),
          after(12, { kind: 'delete pod', node: 'host-1', index: 0, force: true }),
        ]),
    ),
  );

  test(
    'a replacement still waits for its predecessor after both are orphaned',
    withWitness(
      [
        /Pod (?<old>\S+) removed/,
        /Pod (?<next>\S+) created on host-1/,
        /DaemonSet alpha removed/,
        /host-1 +a container of <next> runs/,
      ],
      () =>
        outcomesOf(1, [
          after(1, daemonSet('app:stubborn', { graceSeconds: 30 })),
          after(10, { kind: 'delete pod', node: 'host-1', index: 0, force: true }),
          after(2, { kind: 'delete daemonset', name: 'alpha', policy: 'Orphan' }),
        ]),
    ),
  );

  test(
    'a rollout after the coordinator’s clock was set back replaces one Pod at a time',
    withWitness(
      [
        /"jump clock"/,
        /clock step on this machine/,
        /"set image"/,
        /Pod (?<old>\S+) marked for deletion/,
        /Pod (?<next>\S+) created/,
        { absent: /Pod \S+ marked for deletion/ },
        /Pod <next> changed: status \(Running Ready=True/,
        /Pod \S+ marked for deletion/,
      ],
      () =>
        outcomesOf(4, [
          after(1, daemonSet('app:1', { minReadySeconds: 5 })),
          after(30, { kind: 'jump clock', node: null, byMs: -3_600 * SECOND }),
          after(40, setImage('app:2')),
        ]),
    ),
  );

  test(
    'a clock set back within minReadySeconds does not make a Pod available early',
    withWitness(
      [
        /"set image"/,
        /Pod (?<old>\S+) marked for deletion/,
        /Pod (?<next>\S+) created/,
        /Pod <next> changed: status \(Running Ready=True/,
        { absent: /Pod \S+ marked for deletion/ },
        /clock step on this machine/,
        /Pod \S+ marked for deletion/,
      ],
      () =>
        outcomesOf(3, [
          after(1, daemonSet('app:1', { minReadySeconds: 20 })),
          after(60, setImage('app:2')),
          after(12, { kind: 'jump clock', node: null, byMs: -3_600 * SECOND }),
        ]),
    ),
  );

  test(
    'an agent that restarts during a rollout does not exceed the update budget',
    withWitness(
      [
        /"set image"/,
        /Pod (?<old>\S+) marked for deletion/,
        /host-5 +the agent is killed/,
        /host-5 +the agent starts/,
        /Pod \S+ marked for deletion/,
      ],
      () =>
        outcomesOf(5, [
          after(1, daemonSet('app:1', { minReadySeconds: 5 })),
          after(21, {
            kind: 'kill agent',
            node: 'host-5',
            crashAt: KILLED,
            downMs: SECOND,
            damagesCache: false,
          }),
          after(8, setImage('app:stubborn')),
        ]),
    ),
  );

  test(
    'containers of a deleted Pod are removed, if the engine is down when the agent without a cache connects',
    withWitness(
      [
        /the engine stops; its containers go on/,
        /Pod bare-1 removed/,
        /desired cache is damaged/,
        /agent connected .*"host-1"/,
        /engine answers again/,
        /containers of unknown Pods found/,
      ],
      () =>
        outcomesOf(1, [
          after(1, { kind: 'create pod', name: 'bare-1', node: 'host-1', image: 'app:1' }),
          after(9, { kind: 'stop engine', node: 'host-1', forMs: 90 * SECOND, killsContainers: false }),
          after(1, {
            kind: 'kill agent',
            node: 'host-1',
            crashAt: KILLED,
            downMs: SECOND,
            damagesCache: true,
          }),
          after(5, { kind: 'delete pod', node: 'host-1', index: 0, force: true }),
        ]),
    ),
  );

  test(
    'a Pod whose deletion a restore undoes does not keep running as an ended Pod',
    withWitness(
      [
        /"back up"/,
        /Pod bare-1 marked for deletion/,
        /coordinator +is killed/,
        /the restore is not confirmed/,
        /deleting a restored Pod that its host had already deleted/,
        /Pod bare-1 removed/,
      ],
      () =>
        outcomesOf(1, [
          after(1, { kind: 'create pod', name: 'bare-1', node: 'host-1', image: 'app:1' }),
          after(9, { kind: 'back up' }),
          after(5, { kind: 'delete pod', node: 'host-1', index: 0, force: false }),
          after(0.1, { kind: 'restore backup', back: 0, downMs: 10 * SECOND, confirmAfterMs: 5 * SECOND }),
        ]),
    ),
  );

  test(
    'a second restore does not undo the host’s report that a Pod has ended',
    withWitness(
      [
        /the restore is not confirmed/,
        /deleting a restored Pod that its host had already deleted/,
        /Pod (?<old>\S+) removed/,
        /"restore backup"/,
        /the restore is not confirmed/,
        /Pod <old> removed/,
        /coordinator +info restore confirmed/,
      ],
      () =>
        outcomesOf(
          2,
          [
            after(1, daemonSet('app:1')),
            after(9, { kind: 'back up' }),
            after(5, setImage('app:2')),
            after(0.2, { kind: 'restore backup', back: 0, downMs: SECOND, confirmAfterMs: 90 * SECOND }),
            after(40, { kind: 'restore backup', back: 0, downMs: SECOND, confirmAfterMs: 60 * SECOND }),
          ],
          10,
        ),
    ),
  );

  test(
    'a Pod created after a restore does not run next to the Pod that its host returns',
    withWitness(
      [
        /"set image"/,
        /Pod (?<next>\S+) created on host-1/,
        /"cut cable"/,
        /the restore is not confirmed/,
        /coordinator +info restore confirmed/,
        /returned Pod stored .*"host-1".*"<next>"/,
      ],
      () =>
        outcomesOf(
          2,
          [
            after(1, daemonSet('app:slow1')),
            after(20, { kind: 'back up' }),
            after(1, setImage('app:slow2')),
            after(25, { kind: 'cut cable', node: 'host-1', forMs: 60 * SECOND }),
            after(1, { kind: 'restore backup', back: 0, downMs: SECOND, confirmAfterMs: 5 * SECOND }),
          ],
          10,
        ),
    ),
  );

  test(
    'with all Nodes tainted, a percentage maxSurge replaces no serving Pod (as upstream, kept)',
    withWitness(
      [
        /a container of (?<old>\S+) runs/,
        /"taint node"/,
        /Node host-1 changed: spec/,
        /"set image"/,
        { absent: /Pod <old> marked for deletion/ },
        /everyone +faults end/,
      ],
      () =>
        outcomesOf(1, [
          after(
            1,
            daemonSet('app:1', { strategy: { type: 'RollingUpdate', maxUnavailable: 0, maxSurge: '50%' } }),
          ),
          after(9, { kind: 'taint node', node: 'host-1', effect: 'NoSchedule' }),
          after(1, setImage('app:2')),
        ]),
    ),
  );

  test(
    'a Pod runs again after its Node was deleted and registered, although its host had started to stop it',
    withWitness(
      [
        /Node host-1 removed/,
        /hub ended the session .*nodeDeleted/,
        /host-1 +the agent is told to stop/,
        /host-1 +the agent starts/,
        /Node host-1 created/,
        /host-1 +a container of bare-1 runs/,
      ],
      () =>
        outcomesOf(
          1,
          [
            after(1, { kind: 'create pod', name: 'bare-1', node: 'host-1', image: 'app:stubborn' }),
            after(9, { kind: 'delete node', node: 'host-1' }),
            after(0.5, { kind: 'stop agent', node: 'host-1', downMs: SECOND }),
          ],
          10,
        ),
    ),
  );

  test(
    'a restore does not keep an ended Pod that a host without a cache lists at its hello',
    withWitness(
      [
        /"back up"/,
        /desired cache is damaged/,
        /containers of unknown Pods found/,
        /Pod (?<old>\S+) marked for deletion/,
        /Pod (?<next>\S+) created on host-1/,
        /Pod <old> removed/,
        /the restore is not confirmed/,
        /deleting restored Pods that ended after the backup .*<old>/,
        /returned Pod stored .*"<next>"/,
      ],
      () =>
        outcomesOf(
          1,
          [
            after(1, daemonSet('app:1')),
            after(5, { kind: 'back up' }),
            after(1, {
              kind: 'kill agent',
              node: 'host-1',
              crashAt: KILLED,
              downMs: SECOND,
              damagesCache: true,
            }),
            after(30, setImage('app:2')),
            after(30, { kind: 'restore backup', back: 0, downMs: SECOND, confirmAfterMs: 5 * SECOND }),
          ],
          10,
        ),
    ),
  );

  test(
    'a Pod created after a restore with the clock set back is not deleted as already ended',
    withWitness(
      [
        /"back up"/,
        /clock step on this machine/,
        /Pod (?<next>\S+) created on host-1/,
        /the restore is not confirmed/,
        /Pod bare-1 created on host-1/,
        /returned Pod stored .*"<next>"/,
        /host-1 +a container of bare-1 runs/,
      ],
      () =>
        outcomesOf(
          1,
          [
            after(1, daemonSet('app:1')),
            after(20, { kind: 'back up' }),
            after(1, { kind: 'jump clock', node: null, byMs: -3_600 * SECOND }),
            after(1, setImage('app:2')),
            after(20, { kind: 'cut cable', node: 'host-1', forMs: 60 * SECOND }),
            after(1, { kind: 'restore backup', back: 0, downMs: SECOND, confirmAfterMs: 5 * SECOND }),
            after(20, { kind: 'create pod', name: 'bare-1', node: 'host-1', image: 'app:1' }),
          ],
          3,
        ),
    ),
  );

  test(
    'a restored Pod does not start next to its successor, of which its host has only the containers',
    withWitness(
      [
        /"back up"/,
        /Pod (?<old>\S+) marked for deletion/,
        /Pod (?<next>\S+) created on host-1/,
        /coordinator +is told to stop/,
        /desired cache is damaged/,
        /containers of unknown Pods found/,
        /the restore is not confirmed/,
        /agent connected .*"host-1"/,
      ],
      () =>
        outcomesOf(1, [
          after(1, daemonSet('app:1')),
          after(20, { kind: 'back up' }),
          after(1, setImage('app:2')),
          after(30, { kind: 'stop coordinator', downMs: 60 * SECOND }),
          after(1, {
            kind: 'kill agent',
            node: 'host-1',
            crashAt: KILLED,
            downMs: SECOND,
            damagesCache: true,
          }),
          after(20, { kind: 'restore backup', back: 0, downMs: SECOND, confirmAfterMs: 60 * SECOND }),
        ]),
    ),
  );

  test(
    'a replacement orphaned before its host received it waits for its predecessor',
    withWitness(
      [
        /"cut cable"/,
        /Pod (?<old>\S+) removed/,
        /Pod (?<next>\S+) created on host-1/,
        /DaemonSet alpha removed/,
        /agent connected .*"host-1"/,
        /host-1 +a container of <next> runs/,
      ],
      () =>
        outcomesOf(1, [
          after(1, daemonSet('app:stubborn', { graceSeconds: 30 })),
          after(9, { kind: 'cut cable', node: 'host-1', forMs: 30 * SECOND }),
          after(5, { kind: 'delete pod', node: 'host-1', index: 0, force: true }),
          after(5, { kind: 'delete daemonset', name: 'alpha', policy: 'Orphan' }),
        ]),
    ),
  );

  test(
    'a mirror Pod is not recreated endlessly for a deleted Node that its host still uses',
    withWitness(
      [
        /"cut cable"/,
        /Node host-1 removed/,
        /Pod static-1-host-1 removed/,
        /Node host-1 created/,
        /Pod static-1-host-1 created/,
      ],
      () =>
        outcomesOf(
          1,
          [
            after(1, { kind: 'write manifest', node: 'host-1', name: 'static-1', image: 'app:2' }),
            after(30, { kind: 'cut cable', node: 'host-1', forMs: 30 * SECOND }),
            after(1, { kind: 'delete node', node: 'host-1' }),
          ],
          3,
        ),
    ),
  );

  test(
    'a host with a full disk does not start an old Pod next to a successor that only the engine has',
    withWitness(
      [
        /the disk is full/,
        /Pod (?<old>\S+) marked for deletion/,
        /desired state not persisted/,
        /Pod (?<next>\S+) created on host-1/,
        /host-1 +a container of <next> runs/,
        /host-1 +the agent is killed/,
        /host-1 +the agent starts/,
        /containers of unknown Pods found/,
        /the disk has room/,
        /agent connected .*"host-1"/,
      ],
      () =>
        outcomesOf(1, [
          after(1, daemonSet('app:1')),
          after(9, { kind: 'fill host disk', node: 'host-1', forMs: 90 * SECOND }),
          after(1, setImage('app:2')),
          after(20, {
            kind: 'kill agent',
            node: 'host-1',
            crashAt: KILLED,
            downMs: SECOND,
            damagesCache: false,
          }),
          after(9, { kind: 'cut cable', node: 'host-1', forMs: 60 * SECOND }),
        ]),
    ),
  );

  test(
    'a host whose disk was full does not restart an ended Pod: it stores the state later',
    withWitness(
      [
        /the disk is full/,
        /Pod (?<old>\S+) marked for deletion/,
        /desired state not persisted/,
        /Pod (?<next>\S+) created on host-1/,
        /host-1 +a container of <next> runs/,
        /the disk has room/,
        /host-1 +the agent is killed/,
        /host-1 +the agent starts/,
        /agent connected .*"host-1"/,
      ],
      () =>
        outcomesOf(1, [
          after(1, daemonSet('app:1')),
          after(9, { kind: 'fill host disk', node: 'host-1', forMs: 20 * SECOND }),
          after(1, setImage('app:2')),
          after(60, {
            kind: 'kill agent',
            node: 'host-1',
            crashAt: KILLED,
            downMs: SECOND,
            damagesCache: false,
          }),
        ]),
    ),
  );

  test(
    'a Pod that is deleted after its host returned it is not returned again',
    withWitness(
      [
        /Pod bare-1 created on host-2/,
        /the restore is not confirmed/,
        /returned Pod stored .*"bare-1"/,
        /host-2 +the agent is killed/,
        /Pod bare-1 removed/,
        /host-2 +the agent starts/,
        /agent connected .*"host-2"/,
        /coordinator +info restore confirmed/,
      ],
      () =>
        outcomesOf(
          2,
          [
            after(2, { kind: 'back up' }),
            after(10, { kind: 'create pod', name: 'bare-1', node: 'host-2', image: 'app:2' }),
            // A second Pod moves the host's position beyond the backup, so that the host returns the first one.
            after(1, { kind: 'create pod', name: 'bare-2', node: 'host-2', image: 'app:2' }),
            after(1, { kind: 'restore backup', back: 0, downMs: SECOND, confirmAfterMs: 150 * SECOND }),
            after(30, {
              kind: 'kill agent',
              node: 'host-2',
              crashAt: KILLED,
              downMs: 60 * SECOND,
              damagesCache: false,
            }),
            after(60, { kind: 'delete pod', node: 'host-2', index: 0, force: true }),
          ],
          3,
        ),
    ),
  );

  test(
    'a Pod of the newer of two backups is not deleted as ended by a host that knows only the older one',
    withWitness(
      [
        /Pod bare-1 created on host-1/,
        /"back up"/,
        /the restore is not confirmed/,
        /Pod bare-2 created on host-1/,
        /the restore is not confirmed/,
        /returned Pod stored .*"bare-2"/,
        /host-1 +a container of bare-1 runs/,
      ],
      () =>
        outcomesOf(
          1,
          [
            after(5, { kind: 'back up' }),
            after(5, { kind: 'cut cable', node: 'host-1', forMs: 90 * SECOND }),
            after(5, { kind: 'create pod', name: 'bare-1', node: 'host-1', image: 'app:1' }),
            after(5, { kind: 'back up' }),
            after(5, { kind: 'restore backup', back: 1, downMs: SECOND, confirmAfterMs: 5 * SECOND }),
            after(120, { kind: 'create pod', name: 'bare-2', node: 'host-1', image: 'app:1' }),
            after(20, { kind: 'restore backup', back: 0, downMs: SECOND, confirmAfterMs: 60 * SECOND }),
          ],
          3,
        ),
    ),
  );

  test(
    'the status of a hello does not overwrite a later report when the coordinator’s disk has space again',
    withWitness(
      [
        /the engine stops/,
        /"fill disk"/,
        /host-1 +the agent starts/,
        /Events are in memory only/,
        /engine answers again/,
        /Node host-1 changed: status \(Ready=True Connected=True/,
      ],
      () =>
        outcomesOf(
          1,
          [
            after(20, { kind: 'stop engine', node: 'host-1', forMs: 8 * SECOND, killsContainers: false }),
            after(2, { kind: 'fill disk', forMs: 6.5 * SECOND }),
            after(0.1, { kind: 'stop agent', node: 'host-1', downMs: 0.5 * SECOND }),
          ],
          6,
        ),
    ),
  );

  test(
    'an adopted Pod with another grace period does not count as updated (all-91001424)',
    withWitness(
      [
        /Pod (?<old>\S+) created on host-1/,
        /Pod <old> removed/,
        /Pod (?<next>\S+) created on host-1/,
        /DaemonSet alpha removed/,
        /DaemonSet alpha created/,
        /Pod <next> changed: metadata/,
      ],
      async () => {
        const outcomes = await outcomesOf(
          1,
          [
            after(1, daemonSet('app:1', { graceSeconds: 10 })),
            // The Pod is then of template generation 2, so the successor's generation 1 does not match it either.
            after(10, setImage('app:3')),
            after(30, { kind: 'delete daemonset', name: 'alpha', policy: 'Orphan' }),
            after(10, daemonSet('app:3', { graceSeconds: 30, strategy: { type: 'OnDelete' } })),
          ],
          3,
        );
        for (const { lines } of outcomes) {
          const status = lines.findLast((line) => line.includes('DaemonSet alpha changed: status')) ?? '';
          assert.match(status, /"currentNumberScheduled":1,.*"numberAvailable":1/, 'the Pod was adopted');
          assert.doesNotMatch(status, /updatedNumberScheduled/);
        }
        return outcomes;
      },
    ),
  );

  test(
    'a Node that is NotReady and then unreachable evicts a Pod after the time of both (as upstream, kept)',
    withWitness(
      [
        /Node host-4 changed: status \(Ready=False/,
        /agent disconnected .*"host-4"/,
        /Node host-4 changed: status \(Ready=Unknown/,
        /Pod bare-2 marked for deletion/,
      ],
      () =>
        outcomesNear({
          ...{ seed: 'zones-100124', nodes: 5, speed: 0 },
          steps: [
            after(0.082, {
              kind: 'create tolerant pod',
              name: 'bare-2',
              node: 'host-4',
              image: 'app:1',
              seconds: 60,
            }),
            after(1.14, { kind: 'fill disk', forMs: 10 * SECOND }),
            after(0.195, { kind: 'stop engine', node: 'host-4', forMs: 90 * SECOND, killsContainers: true }),
            after(3.318, { kind: 'cut zone', zone: null, forMs: 150 * SECOND }),
            after(1.341, { kind: 'cut cable', node: 'host-5', forMs: 8 * SECOND }),
          ],
        }),
    ),
  );
});
