import type { CustomOrigin, Field, Lookup } from '../../dictionary/index.ts';
import { bindParameters } from '../../query/native/request.ts';
import { withViewTag } from '../access/views.ts';
import type { Reply } from '../exchange.ts';
import { describedBy } from '../front/paths.ts';
import { listingResource, taggedResult } from './listings.ts';
import { type NativeExchange, noNames, refuseParameters, success } from './native-request.ts';

/** Names of types as the native interface has them. */
function typeName({ type }: Field): string {
  switch (type.kind) {
    case 'string':
      return 'Character';
    case 'integer':
      return 'Integer';
    case 'decimal':
      return 'Decimal';
    case 'boolean':
      return 'Boolean';
    case 'date':
      return 'Date';
    case 'timestamp':
      return 'Datetime';
  }
}

/** `ListPrice` → `List Price`. */
const labelOf = (name: string): string =>
  name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2');

function describe(field: Field, path: string, label: string, listed: boolean): Record<string, unknown> {
  const { type } = field;
  return {
    ResourceUri: path,
    Label: label,
    Type: typeName(field),
    Searchable: true,
    HasList: listed,
    MultiSelect: field.collection,
    ...(type.kind === 'string' && type.maxLength !== undefined ? { MaxLength: type.maxLength } : {}),
    ...(type.kind === 'decimal' ? { Precision: type.precision, Scale: type.scale } : {}),
  };
}

function visibleFields(request: NativeExchange): readonly Field[] {
  return request.session.view.fieldsOf(listingResource(request));
}

/** `/v1/standardfields`: the standard fields of a listing that the key may see. */
export function standardFields(request: NativeExchange, name?: string): Reply | undefined {
  refuseParameters(request, 'standardfields');
  const { schema } = request.session.view;
  const fields = visibleFields(request).filter(
    (field) => field.custom === undefined && (name === undefined || field.nativeName === name),
  );
  if (name !== undefined && fields.length === 0) return undefined;
  const described = Object.fromEntries(
    fields.map((field) => {
      const listed = field.lookup !== undefined && schema.lookup(field.lookup) !== undefined;
      const path = `/v1/standardfields/${field.nativeName}`;
      return [
        field.nativeName,
        { ...describe(field, path, labelOf(field.nativeName), listed), ...values(request, field) },
      ];
    }),
  );
  return withViewTag(success([JSON.stringify(described)], 1), request.session);
}

/** The values of a lookup, for a field that is asked for by name. */
function values({ session }: NativeExchange, field: Field): Record<string, unknown> {
  const lookup = field.lookup === undefined ? undefined : session.view.schema.lookup(field.lookup);
  if (lookup === undefined) return {};
  return { FieldList: [...lookup.values.keys()].map((value) => ({ Name: value, Value: value })) };
}

/** `/v1/customfields`: the custom fields that the key may see, by group and current name. */
export function customFieldList(request: NativeExchange): Reply {
  refuseParameters(request, 'customfields');
  const groups = new Map<string, Record<string, unknown>>();
  for (const { field, custom } of customFieldsOf(request)) {
    const { group, label } = custom;
    groups.set(group, { ...groups.get(group), [label]: describeCustom(request, field, custom) });
  }
  const results = [...groups].map(([group, fields]) => JSON.stringify({ [group]: fields }));
  return success([results.join(',')], results.length);
}

/**
 * `/v1/customfields/<name>`: the custom fields of this current name, or else of this API name, under the name; of a
 * property type all, as they belong to every type.
 */
export function customField(request: NativeExchange, name: string): Reply | undefined {
  refuseParameters(request, 'customfields');
  const all = customFieldsOf(request);
  const labelled = all.filter(({ custom }) => custom.label === name);
  const named = labelled.length > 0 ? labelled : all.filter(({ field }) => field.name === name);
  if (named.length === 0) return isPropertyType(request, name) ? customFieldList(request) : undefined;
  const results = named.map(({ field, custom }) => {
    const described = { ...describeCustom(request, field, custom), Group: custom.group };
    return JSON.stringify({ [name]: described });
  });
  return success([results.join(',')], results.length);
}

const customFieldsOf = (
  request: NativeExchange,
): readonly { readonly field: Field; readonly custom: CustomOrigin }[] =>
  visibleFields(request).flatMap((field) =>
    field.custom === undefined ? [] : [{ field, custom: field.custom }],
  );

function describeCustom(
  request: NativeExchange,
  field: Field,
  { label, section }: CustomOrigin,
): Record<string, unknown> {
  const { schema } = request.session.view;
  const listed = field.lookup !== undefined && schema.lookup(field.lookup) !== undefined;
  const path = `/v1/customfields/${encodeURIComponent(field.name)}`;
  const described = { ...describe(field, path, label, listed), Section: section, FieldName: field.name };
  return { ...described, ...values(request, field) };
}

/** The lookup of property types; undefined for a key that may not see the field. */
function propertyTypesOf(request: NativeExchange): Lookup | undefined {
  const { schema } = request.session.view;
  const found = schema.of(listingResource(request)).findField('PropertyType');
  return found.kind === 'visible' && found.field.lookup !== undefined
    ? schema.lookup(found.field.lookup)
    : undefined;
}

const isPropertyType = (request: NativeExchange, name: string): boolean =>
  propertyTypesOf(request)?.spellings.has(name) ?? false;

/** `/v1/propertytypes`: what PropertyType may be; the code is what a filter compares it with. */
export function propertyTypes(request: NativeExchange): Reply {
  refuseParameters(request, 'propertytypes');
  const types = [...(propertyTypesOf(request)?.values.keys() ?? [])];
  const results = types.map((type) => JSON.stringify({ MlsName: type, MlsCode: type }));
  return success([results.join(',')], results.length);
}

/** `/v1/system`: who the key is here, and what is served. */
export function system(request: NativeExchange): Reply {
  refuseParameters(request, 'system');
  const { exchange, session } = request;
  const { key, view } = session;
  const described = {
    Id: key.id,
    ResourceUri: '/v1/system',
    Name: key.name,
    Role: view.role.name,
    KeyType: key.kind,
    Systems: key.systems,
    Surface: exchange.surface.name,
    Version: 'v1',
    MaximumLimit: exchange.surface.paging.nativeLimit.most,
    Timestamp: new Date(session.now).toISOString().replace(/\.\d+Z$/, 'Z'),
  };
  return success([JSON.stringify(described)], 1, {}, describedBy(exchange.base));
}

/** `/v1/my/account`: the account of the key itself, in the form of the others. It holds what is known of a key. */

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
