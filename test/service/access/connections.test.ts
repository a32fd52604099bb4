/** Which connection is closed when there are too many. A connection without a request from a known key is a stranger's. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Bound, Connections } from '../../../src/service/access/connections.ts';
import { networkOf } from '../../../src/shared/ip-address.ts';

function connectionsOf(total: number, perAddress: number) {
  const bounds: Bound[] = [];
  const closed: string[] = [];
  const connections = new Connections({ total, perAddress }, (bound) => void bounds.push(bound));
  return {
    connections,
    bounds,
    closed,
    open: (name: string, address: string) => connections.open(address, () => void closed.push(name)),
    /** Opens a connection on which `key` sends one request. */
    openOf(name: string, address: string, key: string) {
      const connection = connections.open(address, () => void closed.push(name));
      connection?.beginRequest()(key);
      return connection;
    },
  };
}

test('an address above its limit loses its connection that has been idle longest', () => {
  const { connections, open, openOf, closed, bounds } = connectionsOf(100, 2);
  const first = open('first', '192.0.2.1');
  open('second', '192.0.2.1');
  first?.beginRequest()(undefined); // without a key
  open('third', '192.0.2.1');
  open('elsewhere', '192.0.2.2');
  assert.deepEqual([closed, bounds, connections.size], [['second'], ['address'], 3]);
  openOf('of a key', '192.0.2.1', 'key a');
  assert.deepEqual([closed, connections.strangers], [['second', 'first'], 2]);
  open('fourth', '192.0.2.1'); // a connection with a request from a key no longer counts for its address
  assert.deepEqual([closed, connections.size, connections.strangers], [['second', 'first'], 4, 3]);
});

test('when strangers hold all connections, a connection of a key replaces one of theirs', () => {
  const { connections, open, openOf, closed } = connectionsOf(6, 100);
  for (let at = 0; at < 6; at++) open(`stranger ${at}`, `192.0.2.${at % 2}`);
  openOf('a', '198.51.100.1', 'key a');
  openOf('b', '198.51.100.2', 'key b');
  open('stranger 6', '192.0.2.0');
  assert.deepEqual(closed, ['stranger 0', 'stranger 1', 'stranger 2']);
  assert.deepEqual([connections.size, connections.strangers], [6, 4]);
});

test('when no stranger is left, the key with the most connections loses its own', () => {
  const { open, openOf, closed } = connectionsOf(4, 100);
  openOf('other', '192.0.2.1', 'key b');
  for (let at = 0; at < 3; at++) openOf(`greedy ${at}`, '192.0.2.2', 'key a');
  openOf('greedy 3', '192.0.2.2', 'key a');
  open('stranger', '192.0.2.3');
  assert.deepEqual(closed, ['greedy 0', 'greedy 1']);
});

test('a connection with a running request is never closed; if all have one, a new connection is refused', () => {
  const { connections, open, openOf, closed, bounds } = connectionsOf(2, 100);
  const ended = open('stranger', '192.0.2.1')?.beginRequest();
  const other = openOf('of a key', '192.0.2.2', 'key a')?.beginRequest();
  assert.equal(open('refused', '192.0.2.3'), undefined);
  other?.('key a');
  assert.notEqual(open('taken', '192.0.2.3'), undefined);
  ended?.('key b');
  ended?.('key b'); // a second end of the same request must have no effect
  assert.deepEqual([closed, bounds], [['of a key'], ['total', 'total']]);
  assert.deepEqual([connections.size, connections.strangers], [2, 1]);
});

test('a connection that has ended or was closed no longer counts, even if a request on it ends later', () => {
  const { connections, open } = connectionsOf(1, 100);
  const first = open('first', '192.0.2.1');
  const ended = first?.beginRequest();
  first?.handleClose();
  first?.handleClose();
  ended?.('key a');
  assert.deepEqual([connections.size, connections.strangers], [0, 0]);
  const second = open('second', '192.0.2.1');
  open('third', '192.0.2.1');
  second?.beginRequest()('key a');
  second?.handleClose();
  assert.deepEqual([connections.size, connections.strangers], [1, 1]);
});

test('an IPv6 /64 network counts as one address, and an IPv4-mapped address as the IPv4 address', () => {
  const networks: readonly [string, string][] = [
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8:1:2::6', '2001:db8:1:2'],
    ['2001:db8::6', '2001:db8:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['::1', '0:0:0:0'],
  ];
  for (const [address, network] of networks) assert.equal(networkOf(address), network, address);
});
