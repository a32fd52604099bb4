/**
 * Node's module `http`, without what importing it would add: an import evaluates every export, and that of `WebSocket` loads Node's own
 * HTTP client, which takes a tenth of the start of a service.
 */
import type * as Http from 'node:http';

const http = process.getBuiltinModule('node:http');

export const createServer = http.createServer;
export const METHODS = http.METHODS;
export const STATUS_CODES = http.STATUS_CODES;
export const ServerResponse = http.ServerResponse;
export type ServerResponse = Http.ServerResponse;
