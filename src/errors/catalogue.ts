/**
 * Every error that plat reports: HTTP status, code of the native interface (reference: native-v1 error codes), message and
 * remedy. Both envelopes and the command line render errors from this table.
 */

/** One error; `P` are the facts that its message contains. */
export interface ErrorEntry<P> {
  readonly status: number;
  /** Code in the native envelope. */
  readonly native: number;
  readonly message: (facts: P) => string;
}

const kind =
  (status: number, native: number) =>
  <P = Record<string, never>>(message: ErrorEntry<P>['message']): ErrorEntry<P> => {
    return { status, native, message };
  };

/** The kinds of several errors: their HTTP status, and their code in the native envelope. */
const badRecord = kind(400, 1035);
const badQuery = kind(400, 1040);
const tooLargeQuery = kind(400, 1041);
const badRequest = kind(400, 1053);
const unauthenticated = kind(401, 1000);
const forbidden = kind(403, 1500);
const notFound = kind(404, 404);
const disconnected = kind(408, 1053);
const tooMany = kind(429, 1550);
const failure = kind(500, 1510);
const badClock = kind(503, 1500);
const unavailable = kind(503, 1510);
const notNow = kind(503, 1515);

/** "…; did you mean X?" where a near name is known. */
const didYouMean = (nearest: string | undefined): string =>
  nearest === undefined ? '' : ` Did you mean ${nearest}?`;
const atPosition = (position: number | undefined): string =>
  position === undefined ? '' : ` at position ${position}`;

interface UnknownName {
  readonly name: string;
  readonly nearest?: string | undefined;
}

/** A reader of changes has to start over, because the individual changes after its position are no longer stored. */
const goneEntry = <P = Record<string, never>>(since: string, anew: (facts: P) => string): ErrorEntry<P> =>
  kind(410, 1053)((facts) => `The changes since ${since} are no longer known. ${anew(facts)}`);

export const catalogue = {
  // Authentication, keys and limits
  tokenMissing: unauthenticated(
    () => 'The request carries no token. Send it as "Authorization: Bearer <token>".',
  ),
  tokenUnknown: unauthenticated(() => 'The token is not known to this service.'),
  tokenRevoked: kind(401, 1010)(() => 'The key of this token is disabled.'),
  tokenExpired: kind(401, 1020)(() => 'The token has expired.'),
  tokenInQuery: badRequest<{ name: string }>(
    ({ name }) =>
      `A token must not be sent in the URL (parameter ${name}), where logs would keep it. Send it as "Authorization: Bearer <token>".`,
  ),
  replicationKeyOnApi: kind(
    403,
    1021,
  )<{ host: string }>(({ host }) => `A replication key must use the replication host: ${host}`),
  keyNotForSurface: forbidden<{ kind: string; surface: string }>(
    ({ kind, surface }) => `The ${surface} interface is not available to a key of kind ${kind}.`,
  ),
  roleUnknown: kind(
    403,
    1015,
  )<{ role: string }>(
    ({ role }) => `The permissions of this key are unknown: its role ${role} is no longer configured.`,
  ),
  hostUnknown: kind(
    421,
    1500,
  )<{ host: string }>(
    ({ host }) =>
      `The console is not served under the name ${host}. Open it at an address of this machine, or declare the name with --public-url admin=….`,
  ),
  otherSite: forbidden(
    () => 'The request comes from a page of another site. A session is valid for the console only.',
  ),
  rateLimited: tooMany<{ limit: number; window: number; seconds: number }>(
    ({ limit, window, seconds }) => `More than ${limit} requests in ${window} s. Try again in ${seconds} s.`,
  ),
  tooManyUnderWay: tooMany<{ limit: number; seconds: number }>(
    ({ limit, seconds }) =>
      `More than ${limit} requests of this key are running at once. Try again in ${seconds} s.`,
  ),
  tooManyStreams: tooMany<{ limit: number; seconds: number }>(
    ({ limit, seconds }) =>
      `This key already has ${limit} streams of events open, which is the maximum. Try again in ${seconds} s.`,
  ),
  answersNotTaken: tooMany<{ megabytes: number; seconds: number }>(
    ({ megabytes, seconds }) =>
      `More than ${megabytes} MB of responses are waiting for this key to read them. Try again in ${seconds} s.`,
  ),
  searchedTooLong: tooMany<{ limit: number; window: number; seconds: number }>(
    ({ limit, window, seconds }) =>
      `The searches of this key took more than ${limit} s in ${window} s. The next search can run in ${seconds} s; records and pages by key are served meanwhile.`,
  ),

  clockJumped: badClock<{ clock: string; ahead: string }>(
    ({ clock, ahead }) =>
      `The clock says ${clock}, and was set ahead by ${ahead} since the store was last written to. Nothing is written. If the clock is wrong now, correct it, since timestamps would lie in the future; if it was behind before and is right now, confirm it once with --allow-clock-jump.`,
  ),
  clockSetBack: badClock<{ clock: string; behind: string }>(
    ({ clock, behind }) =>
      `The clock says ${clock}, and was set back by ${behind} since the store was last written to. Nothing is restamped. If the clock is wrong now, correct it, since all later timestamps would be lost; if it was ahead before and is right now, confirm it once with --allow-clock-jump.`,
  ),

  // Paths and requests
  pathNotFound: notFound<{ path: string; nearest?: string | undefined }>(
    ({ path, nearest }) => `There is nothing at ${path}.${didYouMean(nearest)}`,
  ),
  consoleMissing: notFound(
    () => 'The console was not built. In a checkout, "npm run build:console" builds it.',
  ),
  resourceUnknown: notFound<UnknownName>(
    ({ name, nearest }) => `There is no resource ${name}.${didYouMean(nearest)}`,
  ),
  recordNotFound: notFound<{ resource: string }>(({ resource }) => `There is no such ${resource} record.`),
  methodNotAllowed: kind(
    405,
    405,
  )<{ method: string; takes: string }>(
    ({ method, takes }) => `${method} is not allowed. This service accepts ${takes}.`,
  ),
  notAcceptable: kind(
    406,
    1053,
  )<{ by: string; offered: string }>(
    ({ by, offered }) => `${by} excludes everything that is offered here: ${offered}.`,
  ),
  uriTooLong: kind(414, 1053)<{ limit: number }>(({ limit }) => `The URL is longer than ${limit} bytes.`),
  bodyTooLarge: kind(413, 1053)<{ limit: number }>(({ limit }) => `The body is longer than ${limit} bytes.`),
  preconditionFailed: kind(
    412,
    1053,
  )(() => 'The requested resource has another version than the one in If-Match.'),
  rangeOutside: kind(
    416,
    1053,
  )<{ size: number }>(({ size }) => `The range begins after the end of the file, which has ${size} bytes.`),
  mediaTypeUnsupported: kind(
    415,
    1053,
  )<{ given: string }>(
    ({ given }) =>
      `The body is ${given}. A query is read as text/plain or application/x-www-form-urlencoded, in UTF-8 and not compressed.`,
  ),
  linkTooLong: badRequest<{ length: number; limit: number }>(
    ({ length, limit }) =>
      `The query has ${length} bytes and more rows than one page holds, but the link to the next page would be longer than ${limit} bytes. Split the request.`,
  ),
  headersTooLarge: kind(431, 1053)(() => 'The request headers are too large.'),
  requestMalformed: badRequest<{ reason: string }>(({ reason }) => `The request is malformed: ${reason}.`),
  requestTimedOut: disconnected(() => 'The request did not arrive completely in time.'),
  clientGone: disconnected(() => 'The client closed its connection, so its request was abandoned.'),

  // Query options
  optionUnknown: badRequest<UnknownName>(
    ({ name, nearest }) => `The query option ${name} is not known.${didYouMean(nearest)}`,
  ),
  optionRepeated: badRequest<{ name: string }>(
    ({ name }) => `The query option ${name} is given more than once.`,
  ),
  optionInvalid: badRequest<{ name: string; value: string; expected: string }>(
    ({ name, value, expected }) => `${name} is ${JSON.stringify(value)}, but takes ${expected}.`,
  ),
  optionsConflict: badRequest<{ first: string; second: string; reason: string }>(
    ({ first, second, reason }) => `${first} and ${second} cannot be combined: ${reason}.`,
  ),
  optionNotTaken: badRequest<{ name: string; resource: string; taken: string }>(
    ({ name, resource, taken }) => `${name} does not apply to ${resource}; its parameters are ${taken}.`,
  ),
  expansionUnknown: badRequest<UnknownName & { option: string; known: string }>(
    ({ option, name, known, nearest }) =>
      `${option}: ${name} cannot be expanded; ${known} can.${didYouMean(nearest)}`,
  ),
  optionMissing: kind(400, 1050)<{ name: string }>(({ name }) => `The parameter ${name} is required.`),
  versionUnsupported: badRequest<{ header: string; version: string }>(
    ({ header, version }) => `${header} ${JSON.stringify(version)} is not supported; 4.0 and 4.01 are.`,
  ),
  syntax: badQuery<{ option: string; position?: number; found: string; expected: string }>(
    ({ option, position, found, expected }) =>
      `${option}: found ${found}${atPosition(position)}, expected ${expected}.`,
  ),
  fieldUnknown: badQuery<
    UnknownName & { resource: string; option: string; position?: number; hint?: string | undefined }
  >(
    ({ name, resource, option, position, hint = '', nearest }) =>
      `${option}: ${resource} has no field ${name}${atPosition(position)}${hint}.${didYouMean(nearest)}`,
  ),
  typeMismatch: badQuery<{ option: string; position?: number; reason: string }>(
    ({ option, position, reason }) => `${option}: ${reason}${atPosition(position)}.`,
  ),
  arithmeticInvalid: tooLargeQuery<{ option: string; position?: number; reason: string }>(
    ({ option, position, reason }) => `${option}: ${reason}${atPosition(position)}.`,
  ),
  filterTooLarge: tooLargeQuery<{ option: string; what: string; limit: number; position?: number }>(
    ({ option, what, limit, position }) => `${option}: more than ${limit} ${what}${atPosition(position)}.`,
  ),
  expansionTooLarge: tooLargeQuery<{ related: number; rows: number; limit: number; most: number }>(
    ({ related, rows, limit, most }) =>
      most === 0
        ? `$expand: about ${related} related records would come with a single row, more than ${limit}. Request fewer expansions.`
        : `$expand: about ${related} related records would come with ${rows} rows, more than ${limit}. Request at most $top=${most}, or fewer expansions.`,
  ),
  notImplemented: kind(
    501,
    1040,
  )<{ option: string; what: string; position?: number }>(
    ({ option, what, position }) =>
      `${option}: ${what}${atPosition(position)} is not provided by this service.`,
  ),
  skipTokenInvalid: badRequest(() => 'The skip token was not made by this service for this request.'),
  deltaTokenInvalid: badRequest(
    () =>
      'The delta token was not made by this service for this request. A delta link accepts no options besides its own.',
  ),
  deltaGone: goneEntry(
    'this delta link was issued',
    () => 'Read the complete collection again, at the URL in Location.',
  ),
  eventsGone: goneEntry<{ sequence: number }>(
    'this number',
    ({ sequence }) => `Download everything, then continue with EntityEventSequence gt ${sequence}.`,
  ),
  positionGone: goneEntry<{ position: string }>(
    'this position',
    ({ position }) => `Download everything, then follow from the position ${position}.`,
  ),

  // Availability
  windowNotSettled: notNow<{ seconds: number }>(
    ({ seconds }) =>
      `Records inside this window are being written at this moment. Try again in ${seconds} s.`,
  ),
  windowAhead: notNow<{ seconds: number }>(
    ({ seconds }) =>
      `This window ends ${seconds} s ahead of the clock of this service, and records will still enter it. Try again in ${seconds} s, or end it at the Date of a response.`,
  ),
  queryTimedOut: kind(
    503,
    1516,
  )<{ seconds: number }>(
    ({ seconds }) =>
      `The query took longer than ${seconds} s and was stopped. Use a narrower filter or an order by key.`,
  ),
  queryTooLarge: kind(
    503,
    1516,
  )(
    () =>
      'The functions of the query would take more memory than one query may use. Use a narrower filter, or request fewer records at a time.',
  ),
  answerTooLarge: notNow<{ megabytes: number }>(
    ({ megabytes }) =>
      `The response would be larger than ${megabytes} MB. Request fewer records at a time, or fewer expansions.`,
  ),
  overloaded: unavailable<{ seconds: number }>(
    ({ seconds }) => `The service is at its limit. Try again in ${seconds} s.`,
  ),
  storeUnavailable: unavailable(() => 'The store cannot be reached at the moment.'),
  writeUnknown: unavailable(
    () =>
      'The connection to the store was lost during a commit, so the write may or may not be stored. Repeat it; nothing is stored twice.',
  ),
  internal: failure<{ requestId: string }>(
    ({ requestId }) => `The request failed inside the service. Its id is ${requestId}.`,
  ),

  // Records that cannot be stored
  resourceFilled: badRecord<{ name: string; source: string }>(
    ({ name, source }) =>
      `The store fills ${name} itself, from ${source}. Its records cannot be imported, copied or deleted.`,
  ),

  // The store and the command line
  storeMissing: unavailable<{ store: string }>(
    ({ store }) =>
      `There is no store at ${store}. "plat import", "plat replicate" and "plat demo" create one.`,
  ),
  storeNotOurs: unavailable<{ store: string; reason: string }>(
    ({ store, reason }) => `${store} is not a plat store: ${reason}.`,
  ),
  storeDamaged: unavailable<{ store: string; reason: string }>(
    ({ store, reason }) =>
      `${store} is damaged: ${reason}. "plat check" reports the damage, and --repair repairs what it can.`,
  ),
  storeReplaced: unavailable<{ store: string; reason: string }>(
    ({ store, reason }) =>
      `${store} accepts no writes from this process: ${reason}. Restart the process to use what is there now.`,
  ),
  storeUnreachable: unavailable<{ store: string; reason: string }>(
    ({ store, reason }) => `${store} cannot be reached: ${reason}.`,
  ),
  storeDenied: unavailable<{ store: string; reason: string }>(
    ({ store, reason }) => `${store} cannot be used: ${reason}.`,
  ),
  storeTooNew: unavailable<{ store: string; found: number; known: number }>(
    ({ store, found, known }) =>
      `${store} has layout ${found}, newer than the layout ${known} that this plat knows. Use a newer plat.`,
  ),
  storeOutdated: unavailable<{ store: string }>(
    ({ store }) =>
      `${store} leads to a server that lacks what this process has seen on another one: probably a former primary. Correct the address. If this server is right, run "plat restore --store ${store} --new-epoch".`,
  ),
  storeBusy: unavailable<{ reason: string }>(
    ({ reason }) =>
      `${reason}. Try again when it has finished. If it hangs, end it; what it has committed stays stored.`,
  ),
  storeFull: unavailable<{ store: string }>(
    ({ store }) =>
      `There is no room left on the disk of ${store}. Everything that was stored before is intact; nothing else was stored.`,
  ),
  usage: badRequest<{ reason: string }>(({ reason }) => reason),
  failed: failure<{ reason: string }>(({ reason }) => reason),
};

export type ErrorCode = keyof typeof catalogue;
export type ErrorFacts<C extends ErrorCode> = Parameters<(typeof catalogue)[C]['message']>[0];
