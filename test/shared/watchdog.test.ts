import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { mock, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { startWatchdog } from '../../src/shared/watchdog.ts';

/** A connection that a test writes to and receives from. */
class FakeSocket extends Socket {
  override bytesWritten = 0;
  ending: Error | undefined;

  override destroy(error?: Error): this {
    this.ending = error;
    return this;
  }
}

/** Lets time pass, in steps in which everything that is pending runs. */
async function pass(milliseconds: number): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += 100) {
    mock.timers.tick(100);
    for (let turn = 0; turn < 3; turn++) await setImmediate();
  }
}

/** A watched connection. @param answer whether the server says that it is at work; absent: it says nothing */
function watched(t: { after(work: () => void): void }, limit: number, answer: () => Promise<boolean>) {
  mock.timers.enable({ apis: ['setTimeout'] });
  const socket = new FakeSocket();
  let asked = 0;
  const isAtWork = (): Promise<boolean> => {
    asked++;
    return answer();
  };
  const watchdog = startWatchdog(socket, { limit, isAtWork });
  t.after(() => {
    watchdog.end();
    mock.timers.reset();
  });
  return { socket, watchdog, asked: () => asked };
}

const HOUR = 3_600_000;
const never = (): Promise<boolean> => new Promise(() => undefined);

test('a connection whose server is not at work on what it was sent ends long before the time limit', async (t) => {
  const { socket } = watched(t, HOUR, async () => false);
  await pass(60_000);
  assert.equal(socket.ending, undefined, 'nothing was sent');
  socket.bytesWritten = 10;
  await pass(5000);
  assert.match(String(socket.ending), /not at work on what it was sent/);
});

test('a server that does not say whether it is at work counts as unresponsive', async (t) => {
  const { socket } = watched(t, HOUR, never);
  socket.bytesWritten = 10;
  await pass(7000);
  assert.match(String(socket.ending), /not at work/);
});

test('a server that is at work, or cannot be asked, has until its time limit, and is asked more and more rarely', async (t) => {
  for (const answer of [async () => true, () => Promise.reject(new Error('no connections left'))]) {
    const { socket, asked, watchdog } = watched(t, 30_000, answer);
    socket.bytesWritten = 10;
    await pass(31_000);
    assert.deepEqual([socket.ending, asked() < 6, asked() > 2], [undefined, true, true]);
    await pass(2000);
    assert.match(String(socket.ending), /has sent nothing for/);
    watchdog.end();
    mock.timers.reset();
  }
});

test('data that arrives, even while the server is asked, keeps the connection', async (t) => {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const { socket, asked } = watched(t, HOUR, () => promise);
  socket.bytesWritten = 10;
  await pass(3500);
  assert.equal(asked(), 1);
  socket.emit('data', Buffer.alloc(1));
  resolve(false);
  await pass(60_000);
  assert.deepEqual([socket.ending, asked()], [undefined, 1], 'everything that was sent was answered');
});

test('what was sent since the last check may not have arrived', async (t) => {
  const { socket, asked } = watched(t, HOUR, async () => false);
  for (let time = 0; time < 20; time++) {
    socket.bytesWritten += 10;
    await pass(1000);
  }
  assert.deepEqual([socket.ending, asked()], [undefined, 0]);
});

test('another time limit replaces the first, also for a connection that is already silent', async (t) => {
  const { socket, watchdog } = watched(t, 10_000, async () => true);
  await pass(9000);
  watchdog.setTimeLimit(60_000);
  await pass(60_000);
  assert.equal(socket.ending, undefined);
  await pass(4000);
  assert.match(String(socket.ending), /has sent nothing for/);
});
