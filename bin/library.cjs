// What `import 'plat'` and `require('plat')` load: the library, or one line on a Node that cannot read its sources.
'use strict';

const NEEDED = 26;

if (Number(process.versions.node.split('.')[0]) < NEEDED) {
  const error = new Error(
    `plat as a library needs Node ${NEEDED} or newer, and this is ${process.versions.node}; the program "plat" brings its own.`,
  );
  // Where this line stands is of no use to whoever reads it.
  error.stack = `Error: ${error.message}`;
  throw error;
}

const {
  DEFAULT_SETTINGS,
  PlatError,
  SERVICE_DEFAULTS,
  clientCredentials,
  declare,
  openStore,
  parseRecord,
  replicate,
  sourceStatus,
  standardDictionary,
  startService,
  systemClock,
  tokenFile,
  verifyReplica,
} = require('../dist/index.js');

// By name, since `import { … }` does not look into what is required.
module.exports = {
  DEFAULT_SETTINGS,
  PlatError,
  SERVICE_DEFAULTS,
  clientCredentials,
  declare,
  openStore,
  parseRecord,
  replicate,
  sourceStatus,
  standardDictionary,
  startService,
  systemClock,
  tokenFile,
  verifyReplica,
};
