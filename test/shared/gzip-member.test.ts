/** One gzip member that is joined from separately deflated parts can be read by any program. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { deflatedList, deflatePart, gzipMember } from '../../src/shared/gzip-member.ts';

const text = (of: string, length: number): Buffer => Buffer.from(of.repeat(length));

/** A member with every kind of part: stored parts of no, few and many bytes, and deflated parts of one byte and of many. */
async function member(): Promise<{ whole: Buffer; packed: Buffer }> {
  const parts = [text('{"A":"Żyżyn 🏠"}', 5000), text('x', 1), text('{"B":[1,2,3]}', 70_000)];
  const first = deflatedList(await Promise.all(parts.map((part) => deflatePart(part, 2))));
  const second = deflatedList([await deflatePart(text('{"C":null}', 3), 6)]);
  const stored = [text('{"value":[', 1), text('y', 200_000), Buffer.alloc(0), text(']}', 1)] as const;
  const [head, middle, nothing, tail] = stored;
  const joined = Buffer.concat(
    parts.flatMap((part, index) => (index === 0 ? [part] : [Buffer.from(','), part])),
  );
  assert.equal(first.length, joined.length);
  return {
    whole: Buffer.concat([head, joined, middle, nothing, text('{"C":null}', 3), tail]),
    packed: Buffer.concat(gzipMember([head, first, middle, nothing, second, tail])),
  };
}

test('the member is valid: its checksum and length are those of all parts together', async () => {
  const { whole, packed } = await member();
  assert.deepEqual(gunzipSync(packed), whole);
  assert.deepEqual(gunzipSync(Buffer.concat(gzipMember([]))), Buffer.alloc(0));
  const changed = Buffer.from(packed);
  changed[Math.floor(packed.length / 3)] = (packed[Math.floor(packed.length / 3)] ?? 0) ^ 1;
  assert.throws(() => gunzipSync(changed));
});

test('a part has memory of its own and of its size, which returns to the system', async () => {
  const { bytes } = await deflatePart(text('{"A":1}', 1000), 2);
  const { buffer } = bytes;
  assert.ok(buffer instanceof ArrayBuffer);
  assert.deepEqual([buffer.byteLength, buffer.resizable], [bytes.length, true]);
});

test('web streams read it piece by piece', async () => {
  const { whole, packed } = await member();
  const pieces = Array.from(
    { length: Math.ceil(packed.length / 1000) },
    (_, index) => new Uint8Array(packed.subarray(index * 1000, index * 1000 + 1000)),
  );
  const stream = new Blob(pieces).stream().pipeThrough(new DecompressionStream('gzip'));
  assert.deepEqual(Buffer.from(await new Response(stream).arrayBuffer()), whole);
});

const PYTHON = `import sys, zlib
data = sys.stdin.buffer.read(); d = zlib.decompressobj(31); out = b''
for at in range(0, len(data), 1000): out += d.decompress(data[at:at + 1000])
assert d.eof and d.unused_data == b''
sys.stdout.buffer.write(out)`;

for (const [program, ...options] of [
  ['gzip', '-dc'],
  ['python3', '-c', PYTHON],
] as const) {
  const isThere = spawnSync(program, ['--version']).status === 0;
  test(`${program} reads it`, { skip: isThere ? false : `there is no ${program}` }, async () => {
    const { whole, packed } = await member();
    const { status, stdout, stderr } = spawnSync(program, options, { input: packed, maxBuffer: 1 << 24 });
    assert.equal(status, 0, String(stderr));
    assert.deepEqual(stdout, whole);
  });
}
