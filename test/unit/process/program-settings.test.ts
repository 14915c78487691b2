import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { ExitError } from '../../../shared/process/exit-error.js';
import { createCommandLine, runCommandLine } from '../../../shared/process/settings/command-line.js';
import {
  choiceSetting,
  integerSetting,
  optionalTextSetting,
  secretTextSetting,
  switchSetting,
  textSetting,
} from '../../../shared/process/settings/setting-values.js';
import {
  addSettingFlags,
  flagName,
  loadCommandSettings,
  loadSettings,
  variableName,
} from '../../../shared/process/settings/settings-schema.js';

const SCHEMA = {
  server: optionalTextSetting('Address of the coordinator', 'URL'),
  data: textSetting('Where state is kept', 'DIR', '/data'),
  port: integerSetting('Port', 'N', { min: 1, max: 65535, default: 6443 }),
  logLevel: choiceSetting('How much to say', ['debug', 'info'], 'info'),
  installEngine: switchSetting('Install what is missing'),
};
const NOTHING = { flags: {}, environment: {}, environmentPrefix: 'EN' };
const folder = mkdtempSync(join(tmpdir(), 'everynode-settings-'));
after(() => rmSync(folder, { recursive: true }));

function file(text: string): string {
  const path = join(folder, `${Math.abs(text.length)}.yaml`);
  writeFileSync(path, text);
  return path;
}

describe('settings', () => {
  test('defaults apply without other values', async () => {
    assert.deepEqual(await loadSettings(SCHEMA, NOTHING), {
      server: undefined,
      data: '/data',
      port: 6443,
      logLevel: 'info',
      installEngine: false,
    });
  });

  test('a flag overrides the environment, which overrides the file, which overrides the default', async () => {
    const path = file('data: /f\nport: 3\nlogLevel: debug\n');
    const environment = { EN_DATA: '/e', EN_PORT: '2' };
    const flags = { data: '/flag' };
    const settings = await loadSettings(SCHEMA, { ...NOTHING, flags, environment, file: path });
    assert.deepEqual([settings.data, settings.port, settings.logLevel], ['/flag', 2, 'debug']);
  });

  test('a wrong value is rejected with its source and the expected form', async () => {
    const wrong = { ...NOTHING, environment: { EN_PORT: 'http' } };
    await assert.rejects(
      loadSettings(SCHEMA, wrong),
      new ExitError(2, 'EN_PORT: must be a whole number from 1 to 65535, not "http".'),
    );
    await assert.rejects(loadSettings(SCHEMA, { ...NOTHING, flags: { logLevel: 'loud' } }), {
      sentence: '--log-level: must be one of debug, info, not "loud".',
    });
  });

  test('an unknown key of the file is rejected with the closest valid one', async () => {
    const path = file('dataa: /x');
    await assert.rejects(loadSettings(SCHEMA, { ...NOTHING, file: path }), {
      sentence: `${path}: unknown setting "dataa", did you mean "data"?`,
    });
  });

  test('a file that is missing or not a map is rejected in one sentence', async () => {
    await assert.rejects(loadSettings(SCHEMA, { ...NOTHING, file: '/nowhere/x.yaml' }), /cannot be read/);
    await assert.rejects(loadSettings(SCHEMA, { ...NOTHING, file: file('- a list') }), /must contain a map/);
  });

  test('a map in the file is read like the value of its flag', async () => {
    const labels = { labels: textSetting('Labels', 'K=V', '') };
    const path = file('labels: {color: green, size: big}');
    assert.equal((await loadSettings(labels, { ...NOTHING, file: path })).labels, 'color=green,size=big');
  });

  test('settings are frozen', async () => {
    assert.ok(Object.isFrozen(await loadSettings(SCHEMA, NOTHING)));
  });

  test('names are derived from the key', () => {
    assert.equal(flagName('nodeName'), '--node-name');
    assert.equal(variableName('EVERYNODE_AGENT', 'nodeName'), 'EVERYNODE_AGENT_NODE_NAME');
  });
});

describe('command line', () => {
  const program = () => addSettingFlags(createCommandLine('x', 'tries'), SCHEMA).action(() => undefined);

  test('a wrong flag is rejected with the closest valid one', async () => {
    await assert.rejects(runCommandLine(program(), ['--prot', '1']), {
      sentence: "Unknown option '--prot', did you mean --port?",
      code: 2,
    });
  });

  test('a wrong command is rejected with the closest valid one', async () => {
    const commands = program();
    commands.command('check-engine').action(() => undefined);
    await assert.rejects(runCommandLine(commands, ['chek-engine']), {
      sentence: "Unknown command 'chek-engine', did you mean check-engine?",
    });
  });

  test('a surplus argument is rejected by its command', async () => {
    const commands = program();
    commands.command('check-engine').action(() => undefined);
    await assert.rejects(runCommandLine(commands, ['check-engine', 'now']), {
      sentence: "Too many arguments for 'check-engine'. Expected 0 arguments but got 1.",
    });
  });

  test('a flag without its value is rejected', async () => {
    await assert.rejects(runCommandLine(program(), ['--port']), {
      sentence: "Option '--port <N>' argument missing.",
    });
  });

  test('flags are passed to the action by key', async () => {
    let seen: unknown;
    const command = program().action((options: unknown) => {
      seen = options;
    });
    await runCommandLine(command, ['--log-level', 'debug', '--install-engine']);
    assert.deepEqual(seen, { logLevel: 'debug', installEngine: true });
  });
});

describe('a secret setting', () => {
  const WITH_SECRET = { ...SCHEMA, token: secretTextSetting('EN_JOIN_TOKEN') };

  test('a secret setting has no flag', async () => {
    const program = addSettingFlags(createCommandLine('x', 'tries'), WITH_SECRET).action(() => undefined);
    await assert.rejects(runCommandLine(program, ['--token', 'abc']), { code: 2 });
  });

  test('--help shows the default of a list without indexes', () => {
    const schema = {
      names: {
        description: 'names',
        placeholder: 'N,…',
        default: ['a', 'b'],
        read: (text: string) => [text],
      },
    };
    assert.match(addSettingFlags(createCommandLine('x', 'tries'), schema).helpInformation(), /default a,b\)/);
  });

  test('a secret setting is read from its variable, which child processes do not inherit', async () => {
    process.env.EN_JOIN_TOKEN = 'abc';
    const { token } = await loadCommandSettings(WITH_SECRET, {}, 'EN');
    assert.equal(token, 'abc');
    assert.equal(process.env.EN_JOIN_TOKEN, undefined);
    assert.equal((await loadCommandSettings(WITH_SECRET, {}, 'EN')).token, undefined);
  });

  test('a secret setting is rejected in a settings file, without printing it', async () => {
    const path = file('token: abc-secret\n');
    await assert.rejects(loadSettings(WITH_SECRET, { ...NOTHING, file: path }), {
      sentence: `${path}: "token" is a secret; set it with EN_JOIN_TOKEN.`,
      code: 2,
    });
  });
});
