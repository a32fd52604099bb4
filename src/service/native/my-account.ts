/** `/v1/my/account`: the account of the key itself, in the form of the others. It holds what is known of a key. */
import { bindParameters } from '../../query/native/request.ts';
import type { Reply } from '../exchange.ts';
import { taggedResult } from './listings.ts';
import { type NativeExchange, noNames } from './native-request.ts';

export function myAccount(request: NativeExchange): Reply {
  const { session, parameters } = request;
  const { key, view } = session;
  const [system, ...others] = key.systems;
  const account: Readonly<Record<string, unknown>> = {
    Id: key.id,
    ResourceUri: '/v1/my/account',
    Name: key.name,
    UserType: 'Key',
    Role: view.role.name,
    KeyType: key.kind,
    Office: null,
    OfficeId: null,
    Company: null,
    CompanyId: null,
    Mls: null,
    // Of several systems none is the key's own.
    MlsId: system === undefined || others.length > 0 ? null : system,
    Emails: [],
    Phones: [],
    Addresses: [],
    Websites: [],
    Images: [],
  };
  const { selection } = bindParameters(parameters, {
    names: {
      ...noNames('my/account'),
      find: (name) => (Object.hasOwn(account, name) ? { kind: 'constant', text: '' } : { kind: 'unknown' }),
      names: () => Object.keys(account),
    },
    parameters: ['_select'],
    expansions: [],
    limit: { most: 1 },
    now: new Date(session.now),
  });
  const given = selection.all ? Object.keys(account) : ['Id', 'ResourceUri', ...selection.names];
  return taggedResult(
    request,
    JSON.stringify(Object.fromEntries(given.map((name) => [name, account[name]]))),
  );
}
