/** The folder that contains the files of media. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { extensionOf } from '../../../src/replica/media/fetch-file.ts';
import { MediaFolder } from '../../../src/replica/media/media-folder.ts';

function folderOf(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'plat-folder-'));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function opened(t: TestContext, path: string, source = 'feed'): Promise<MediaFolder> {
  const folder = await MediaFolder.open(path, source);
  t.after(() => folder.close());
  return folder;
}

async function* content(...pieces: string[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield Buffer.from(piece);
}

async function keep(folder: MediaFolder, mediaKey: string, text: string, type: string): Promise<string> {
  const kept = await folder.keep(content(text), extensionOf(type), 1000);
  folder.recordFile({ mediaKey, listingKey: '1', version: 'v', ...kept, type, failures: 0, notBefore: 0 });
  return folder.pathOf(kept.sha256, extensionOf(type));
}

test('no media type, however odd, leads out of the folder or makes a name too long', () => {
  const endings: Record<string, string> = {
    'image/jpeg': 'jpeg',
    'image/JPEG; charset=binary': 'jpeg',
    'image/svg+xml': 'svg',
    'application/vnd.ms-powerpoint': 'vnd_ms-powerpoint',
    'image/../../etc/passwd': '__',
    'image/..\\..\\x': '__',
    'image/a/b': 'a',
    'image/\u0000': 'bin',
    'image/+xml': 'bin',
    '../../x/y': 'bin',
    [`image/${'a'.repeat(8000)}`]: 'a'.repeat(20),
    '': 'bin',
  };
  for (const [type, ending] of Object.entries(endings)) assert.equal(extensionOf(type), ending, type);
  assert.equal(extensionOf(undefined), 'bin');
});

test('opening a folder removes unfinished files of its source, and none of other sources', async (t) => {
  const path = folderOf(t);
  await opened(t, path);
  const partial = join(path, 'partial');
  for (const name of ['feed@left', 'feed.b@theirs', 'other@theirs'])
    writeFileSync(join(partial, name), 'half');
  await opened(t, path);
  assert.deepEqual(readdirSync(partial).toSorted(), ['feed.b@theirs', 'other@theirs']);
});

test('an unfinished file is named after its source, and is removed when its content fails', async (t) => {
  const path = folderOf(t);
  const folder = await opened(t, path);
  let during: string[] = [];
  async function* failing(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('half');
    for (; during.length === 0; during = readdirSync(join(path, 'partial'))) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    throw new Error('cut');
  }
  await assert.rejects(folder.keep(failing(), 'jpeg', 1000), { message: 'cut' });
  assert.match(during.join(), /^feed@[\da-f-]{36}$/);
  await assert.rejects(folder.keep(content('ten bytes.', '.'), 'jpeg', 10), {
    kind: 'too-large',
    message: 'The file is larger than 10 bytes',
  });
  await assert.rejects(folder.keep(content(), 'jpeg', 10), {
    kind: 'rejected',
    message: 'The file is empty',
  });
  assert.deepEqual(readdirSync(join(path, 'partial')), []);
});

test('a file that several records have is deleted with the last of them, even if their media types differ', async (t) => {
  const path = folderOf(t);
  const [feed, other] = [await opened(t, path), await opened(t, path, 'other')];
  const file = await keep(feed, 'a', 'shared', 'image/jpeg');
  assert.equal(await keep(feed, 'b', 'shared', 'image/JPEG; charset=binary'), file);
  await keep(other, 'a', 'shared', 'image/jpeg');
  feed.deleteFile('a');
  assert.equal(existsSync(file), true, 'b has it under another type');
  feed.deleteFile('b');
  assert.equal(existsSync(file), true, 'another source has it');
  other.deleteFile('a');
  assert.equal(existsSync(file), false);
});

test('a file that is truncated on disk counts as missing', async (t) => {
  const folder = await opened(t, folderOf(t));
  const file = await keep(folder, 'a', 'whole', 'image/jpeg');
  const [known] = folder.filesOfListing('1').values();
  assert.ok(known !== undefined);
  assert.equal(known.sha256, createHash('sha256').update('whole').digest('hex'));
  assert.equal(await folder.has(known), true);
  truncateSync(file, 2);
  assert.equal(await folder.has(known), false);
});

test('after a sync, entries are in the index file itself, not only in its log', async (t) => {
  const path = folderOf(t);
  const folder = await opened(t, path);
  await keep(folder, 'a', 'picture', 'image/jpeg');
  folder.sync();
  const copy = join(path, 'copy.db');
  copyFileSync(join(path, 'index.db'), copy);
  const index = new DatabaseSync(copy, { readOnly: true });
  t.after(() => index.close());
  assert.deepEqual(
    index
      .prepare('SELECT media_key FROM files')
      .all()
      .map(({ media_key }) => media_key),
    ['a'],
  );
});

test('a folder that cannot be opened is reported in one line', async (t) => {
  const path = folderOf(t);
  writeFileSync(join(path, 'index.db'), 'no database, but long enough to be looked at as one'.repeat(20));
  await assert.rejects(MediaFolder.open(path, 'feed'), {
    name: 'RequestFailure',
    kind: 'transient',
    message: `${path} cannot be written: file is not a database`,
  });
});

test('an index whose transaction the database rolls back, as on a full disk, reports the reason, and works again afterwards', async (t) => {
  const path = folderOf(t);
  const folder = await opened(t, path);
  const index = new DatabaseSync(join(path, 'index.db'));
  t.after(() => index.close());
  index.exec("CREATE TRIGGER full BEFORE INSERT ON files BEGIN SELECT RAISE(ROLLBACK, 'disk is full'); END");
  await assert.rejects(keep(folder, 'a', 'picture', 'image/jpeg'), { message: 'disk is full' });
  index.exec('DROP TRIGGER full');
  assert.equal(existsSync(await keep(folder, 'a', 'picture', 'image/jpeg')), true);
});
