/**
 * Every error that plat reports: HTTP status, code of the native interface (reference: native-v1 error codes), message and
 * remedy. Both envelopes and the command line render errors from this table.
 */

/** One error; `P` are the facts that its message contains. */
export interface ErrorEntry<P> {
  /** HTTP status. */
  readonly status: number;
  /** Code in the native envelope. */
  readonly native: number;
  readonly message: (facts: P) => string;
}

const entry = <P = Record<string, never>>(definition: ErrorEntry<P>): ErrorEntry<P> => definition;

/** "…; did you mean X?" where a near name is known. */
const meant = (nearest: string | undefined): string =>
  nearest === undefined ? '' : ` Did you mean ${nearest}?`;
const at = (position: number | undefined): string =>
  position === undefined ? '' : ` at position ${position}`;

interface UnknownName {
  readonly name: string;
  readonly nearest?: string | undefined;
}

/** A reader of changes has to starts over, since those behind a place are no longer known one by one. */
const gone = <P = Record<string, never>>(since: string, anew: (facts: P) => string): ErrorEntry<P> => ({
  status: 410,
  native: 1053,
  message: (facts) => `The changes since ${since} are no longer known. ${anew(facts)}`,
});

export const catalogue = {
  // Authentication, keys and limits
  tokenMissing: entry({
    status: 401,
    native: 1000,
    message: () => 'The request carries no token. Send it as "Authorization: Bearer <token>".',
  }),
  tokenUnknown: entry({
    status: 401,
    native: 1000,
    message: () => 'The token is not known to this service.',
  }),
  tokenRevoked: entry({ status: 401, native: 1010, message: () => 'The key of this token is disabled.' }),
  tokenExpired: entry({ status: 401, native: 1020, message: () => 'The token has expired.' }),
  tokenInQuery: entry<{ name: string }>({
    status: 400,
    native: 1053,
    message: ({ name }) =>
      `A token must not be sent in the URL (parameter ${name}), where logs would keep it. Send it as "Authorization: Bearer <token>".`,
  }),
  replicationKeyOnApi: entry<{ host: string }>({
    status: 403,
    native: 1021,
    message: ({ host }) => `A replication key must use the replication host: ${host}`,
  }),
  keyNotForSurface: entry<{ kind: string; surface: string }>({
    status: 403,
    native: 1500,
    message: ({ kind, surface }) => `The ${surface} interface is not available to a key of kind ${kind}.`,
  }),
  roleUnknown: entry<{ role: string }>({
    status: 403,
    native: 1015,
    message: ({ role }) =>
      `The permissions of this key are unknown: its role ${role} is no longer configured.`,
  }),
  hostUnknown: entry<{ host: string }>({
    status: 421,
    native: 1500,
    message: ({ host }) =>
      `The console is not served under the name ${host}. Open it at an address of this machine, or declare the name with --public-url admin=….`,
  }),
  otherSite: entry({
    status: 403,
    native: 1500,
    message: () => 'The request comes from a page of another site. A session is valid for the console only.',
  }),
  rateLimited: entry<{ limit: number; window: number; seconds: number }>({
    status: 429,
    native: 1550,
    message: ({ limit, window, seconds }) =>
      `More than ${limit} requests in ${window} s. Try again in ${seconds} s.`,
  }),
  tooManyUnderWay: entry<{ limit: number; seconds: number }>({
    status: 429,
    native: 1550,
    message: ({ limit, seconds }) =>
      `More than ${limit} requests of this key are running at once. Try again in ${seconds} s.`,
  }),
  tooManyStreams: entry<{ limit: number; seconds: number }>({
    status: 429,
    native: 1550,
    message: ({ limit, seconds }) =>
      `This key already has ${limit} streams of events open, which is the maximum. Try again in ${seconds} s.`,
  }),
  answersNotTaken: entry<{ megabytes: number; seconds: number }>({
    status: 429,
    native: 1550,
    message: ({ megabytes, seconds }) =>
      `More than ${megabytes} MB of responses are waiting for this key to read them. Try again in ${seconds} s.`,
  }),
  searchedTooLong: entry<{ limit: number; window: number; seconds: number }>({
    status: 429,
    native: 1550,
    message: ({ limit, window, seconds }) =>
      `The searches of this key took more than ${limit} s in ${window} s. The next search can run in ${seconds} s; records and pages by key are served meanwhile.`,
  }),

  clockJumped: entry<{ clock: string; ahead: string }>({
    status: 503,
    native: 1500,
    message: ({ clock, ahead }) =>
      `The clock says ${clock}, and was set ahead by ${ahead} since the store was last written to. Nothing is written. If the clock is wrong now, correct it, since timestamps would lie in the future; if it was behind before and is right now, confirm it once with --allow-clock-jump.`,
  }),
  clockSetBack: entry<{ clock: string; behind: string }>({
    status: 503,
    native: 1500,
    message: ({ clock, behind }) =>
      `The clock says ${clock}, and was set back by ${behind} since the store was last written to. Nothing is restamped. If the clock is wrong now, correct it, since all later timestamps would be lost; if it was ahead before and is right now, confirm it once with --allow-clock-jump.`,
  }),

  // Paths and requests
  pathNotFound: entry<{ path: string }>({
    status: 404,
    native: 404,
    message: ({ path }) => `There is nothing at ${path}.`,
  }),
  consoleMissing: entry({
    status: 404,
    native: 404,
    message: () => 'The console was not built. In a checkout, "npm run build:console" builds it.',
  }),
  resourceUnknown: entry<UnknownName>({
    status: 404,
    native: 404,
    message: ({ name, nearest }) => `There is no resource ${name}.${meant(nearest)}`,
  }),
  recordNotFound: entry<{ resource: string }>({
    status: 404,
    native: 404,
    message: ({ resource }) => `There is no such ${resource} record.`,
  }),
  methodNotAllowed: entry<{ method: string; takes: string }>({
    status: 405,
    native: 405,
    message: ({ method, takes }) => `${method} is not allowed. This service accepts ${takes}.`,
  }),
  notAcceptable: entry<{ by: string; offered: string }>({
    status: 406,
    native: 1053,
    message: ({ by, offered }) => `${by} excludes everything that is offered here: ${offered}.`,
  }),
  uriTooLong: entry<{ limit: number }>({
    status: 414,
    native: 1053,
    message: ({ limit }) => `The URL is longer than ${limit} bytes.`,
  }),
  bodyTooLarge: entry<{ limit: number }>({
    status: 413,
    native: 1053,
    message: ({ limit }) => `The query in the body is longer than ${limit} bytes.`,
  }),
  rangeOutside: entry<{ size: number }>({
    status: 416,
    native: 1053,
    message: ({ size }) => `The range begins after the end of the file, which has ${size} bytes.`,
  }),
  mediaTypeUnsupported: entry<{ given: string }>({
    status: 415,
    native: 1053,
    message: ({ given }) =>
      `The body is ${given}. A query is read as text/plain or application/x-www-form-urlencoded, in UTF-8 and not compressed.`,
  }),
  linkTooLong: entry<{ length: number; limit: number }>({
    status: 400,
    native: 1053,
    message: ({ length, limit }) =>
      `The query has ${length} bytes and more rows than one page holds, but the link to the next page would be longer than ${limit} bytes. Split the request.`,
  }),
  headersTooLarge: entry({ status: 431, native: 1053, message: () => 'The request headers are too large.' }),
  requestMalformed: entry<{ reason: string }>({
    status: 400,
    native: 1053,
    message: ({ reason }) => `The request is malformed: ${reason}.`,
  }),
  requestTimedOut: entry({
    status: 408,
    native: 1053,
    message: () => 'The request did not arrive completely in time.',
  }),
  clientGone: entry({
    status: 408,
    native: 1053,
    message: () => 'The client closed its connection, so its request was abandoned.',
  }),

  // Query options
  optionUnknown: entry<UnknownName>({
    status: 400,
    native: 1053,
    message: ({ name, nearest }) => `The query option ${name} is not known.${meant(nearest)}`,
  }),
  optionRepeated: entry<{ name: string }>({
    status: 400,
    native: 1053,
    message: ({ name }) => `The query option ${name} is given more than once.`,
  }),
  optionInvalid: entry<{ name: string; value: string; expected: string }>({
    status: 400,
    native: 1053,
    message: ({ name, value, expected }) => `${name} is ${JSON.stringify(value)}, but takes ${expected}.`,
  }),
  optionsConflict: entry<{ first: string; second: string; reason: string }>({
    status: 400,
    native: 1053,
    message: ({ first, second, reason }) => `${first} and ${second} cannot be combined: ${reason}.`,
  }),
  optionNotTaken: entry<{ name: string; resource: string; taken: string }>({
    status: 400,
    native: 1053,
    message: ({ name, resource, taken }) =>
      `${name} does not apply to ${resource}; its parameters are ${taken}.`,
  }),
  expansionUnknown: entry<UnknownName & { option: string; known: string }>({
    status: 400,
    native: 1053,
    message: ({ option, name, known, nearest }) =>
      `${option}: ${name} cannot be expanded; ${known} can.${meant(nearest)}`,
  }),
  optionMissing: entry<{ name: string }>({
    status: 400,
    native: 1050,
    message: ({ name }) => `The parameter ${name} is required.`,
  }),
  versionUnsupported: entry<{ version: string }>({
    status: 400,
    native: 1053,
    message: ({ version }) => `OData-Version ${JSON.stringify(version)} is not supported; 4.0 and 4.01 are.`,
  }),
  syntax: entry<{ option: string; position?: number; found: string; expected: string }>({
    status: 400,
    native: 1040,
    message: ({ option, position, found, expected }) =>
      `${option}: found ${found}${at(position)}, expected ${expected}.`,
  }),
  fieldUnknown: entry<UnknownName & { resource: string; option: string; position?: number }>({
    status: 400,
    native: 1040,
    message: ({ name, resource, option, position, nearest }) =>
      `${option}: ${resource} has no field ${name}${at(position)}.${meant(nearest)}`,
  }),
  typeMismatch: entry<{ option: string; position?: number; reason: string }>({
    status: 400,
    native: 1040,
    message: ({ option, position, reason }) => `${option}: ${reason}${at(position)}.`,
  }),
  filterTooLarge: entry<{ option: string; what: string; limit: number; position?: number }>({
    status: 400,
    native: 1041,
    message: ({ option, what, limit, position }) => `${option}: more than ${limit} ${what}${at(position)}.`,
  }),
  expansionTooLarge: entry<{ related: number; rows: number; limit: number; most: number }>({
    status: 400,
    native: 1041,
    message: ({ related, rows, limit, most }) =>
      most === 0
        ? `$expand: about ${related} related records would come with a single row, more than ${limit}. Request fewer expansions.`
        : `$expand: about ${related} related records would come with ${rows} rows, more than ${limit}. Request at most $top=${most}, or fewer expansions.`,
  }),
  notImplemented: entry<{ option: string; what: string; position?: number }>({
    status: 501,
    native: 1040,
    message: ({ option, what, position }) =>
      `${option}: ${what}${at(position)} is not provided by this service.`,
  }),
  skipTokenInvalid: entry({
    status: 400,
    native: 1053,
    message: () => 'The skip token was not made by this service for this request.',
  }),
  deltaTokenInvalid: entry({
    status: 400,
    native: 1053,
    message: () =>
      'The delta token was not made by this service for this request. A delta link accepts no options besides its own.',
  }),
  deltaGone: gone(
    'this delta link was issued',
    () => 'Read the complete collection again, at the URL in Location.',
  ),
  eventsGone: gone<{ sequence: number }>(
    'this number',
    ({ sequence }) => `Download everything, then continue with EntityEventSequence gt ${sequence}.`,
  ),
  positionGone: gone<{ position: string }>(
    'this position',
    ({ position }) => `Download everything, then follow from the position ${position}.`,
  ),

  // Availability
  windowNotSettled: entry<{ seconds: number }>({
    status: 503,
    native: 1515,
    message: ({ seconds }) =>
      `Records inside this window are being written at this moment. Try again in ${seconds} s.`,
  }),
  windowAhead: entry<{ seconds: number }>({
    status: 503,
    native: 1515,
    message: ({ seconds }) =>
      `This window ends ${seconds} s ahead of the clock of this service, and records will still enter it. Try again in ${seconds} s, or end it at the Date of a response.`,
  }),
  queryTimedOut: entry<{ seconds: number }>({
    status: 503,
    native: 1516,
    message: ({ seconds }) =>
      `The query took longer than ${seconds} s and was stopped. Use a narrower filter or an order by key.`,
  }),
  answerTooLarge: entry<{ megabytes: number }>({
    status: 503,
    native: 1515,
    message: ({ megabytes }) =>
      `The response would be larger than ${megabytes} MB. Request fewer records at a time, or fewer expansions.`,
  }),
  overloaded: entry<{ seconds: number }>({
    status: 503,
    native: 1510,
    message: ({ seconds }) => `The service is at its limit. Try again in ${seconds} s.`,
  }),
  storeUnavailable: entry({
    status: 503,
    native: 1510,
    message: () => 'The store cannot be reached at the moment.',
  }),
  writeUnknown: entry({
    status: 503,
    native: 1510,
    message: () =>
      'The connection to the store was lost during a commit, so the write may or may not be stored. Repeat it; nothing is stored twice.',
  }),
  internal: entry<{ requestId: string }>({
    status: 500,
    native: 1510,
    message: ({ requestId }) => `The request failed inside the service. Its id is ${requestId}.`,
  }),

  // Records that cannot be stored
  resourceFilled: entry<{ name: string }>({
    status: 400,
    native: 1035,
    message: ({ name }) =>
      `The store fills ${name} itself, from its sequence of changes. Its records cannot be imported or copied.`,
  }),
  recordInvalid: entry<{ reason: string }>({ status: 400, native: 1035, message: ({ reason }) => reason }),

  // The store and the command line
  storeMissing: entry<{ store: string }>({
    status: 503,
    native: 1510,
    message: ({ store }) => `There is no store at ${store}. "plat import" and "plat demo" create one.`,
  }),
  storeNotOurs: entry<{ store: string; reason: string }>({
    status: 503,
    native: 1510,
    message: ({ store, reason }) => `${store} is not a plat store: ${reason}.`,
  }),
  storeDamaged: entry<{ store: string; reason: string }>({
    status: 503,
    native: 1510,
    message: ({ store, reason }) =>
      `${store} is damaged: ${reason}. "plat check" reports the damage, and --repair repairs what it can.`,
  }),
  storeReplaced: entry<{ store: string; reason: string }>({
    status: 503,
    native: 1510,
    message: ({ store, reason }) =>
      `${store} accepts no writes from this process: ${reason}. Restart the process to use what is there now.`,
  }),
  storeUnreachable: entry<{ store: string; reason: string }>({
    status: 503,
    native: 1510,
    message: ({ store, reason }) => `${store} cannot be reached: ${reason}.`,
  }),
  storeDenied: entry<{ store: string; reason: string }>({
    status: 503,
    native: 1510,
    message: ({ store, reason }) => `${store} cannot be used: ${reason}.`,
  }),
  storeTooNew: entry<{ store: string; found: number; known: number }>({
    status: 503,
    native: 1510,
    message: ({ store, found, known }) =>
      `${store} has layout ${found}, newer than the layout ${known} that this plat knows. Use a newer plat.`,
  }),
  storeBusy: entry<{ store: string }>({
    status: 503,
    native: 1510,
    message: ({ store }) => `Another process has the write lock of ${store}. Try again when it has finished.`,
  }),
  storeFull: entry<{ store: string }>({
    status: 503,
    native: 1510,
    message: ({ store }) =>
      `There is no room left on the disk of ${store}. No record of the last batch was stored.`,
  }),
  usage: entry<{ reason: string }>({ status: 400, native: 1053, message: ({ reason }) => reason }),
  failed: entry<{ reason: string }>({ status: 500, native: 1510, message: ({ reason }) => reason }),
};

export type ErrorCode = keyof typeof catalogue;
export type ErrorFacts<C extends ErrorCode> = Parameters<(typeof catalogue)[C]['message']>[0];
