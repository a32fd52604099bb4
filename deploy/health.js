// The health check of a container: asks the admin port of the process beside it and ends with 0 or 1. A slim image has no
// curl. The port is the one that the process was given (PLAT_ADMIN_PORT; 8084 for `replicate`), with TLS if it has TLS.
import { get as getPlainly } from 'node:http';
import { get as getSecurely } from 'node:https';

const { PLAT_ADMIN_PORT: port = '8083', PLAT_TLS_CERT: certificate } = process.env;
const [path = '/live'] = process.argv.slice(2);

const answered = (response) => {
  response.pipe(process.stdout);
  response.on('end', () => process.exit(response.statusCode === 200 ? 0 : 1));
};
const failed = (error) => {
  console.error(error.message);
  process.exit(1);
};
const options = { host: '127.0.0.1', port, path, timeout: 4000 };
// The certificate names the public host, and this never leaves the machine.
const asked =
  certificate === undefined
    ? getPlainly(options, answered)
    : getSecurely({ ...options, rejectUnauthorized: false }, answered);
asked.on('timeout', () => failed(new Error('no answer')));
asked.on('error', failed);
