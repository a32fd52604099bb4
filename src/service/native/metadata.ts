/** Descriptions in the native interface: fields, property types, the account of the key, the system. */
import type { CustomOrigin, Field, Lookup } from '../../dictionary/index.ts';
import { withViewTag } from '../access/view-cache.ts';
import type { Reply } from '../exchange.ts';
import { describedBy } from '../front/paths.ts';
import { listingResource } from './listings.ts';
import {
  bindRequest,
  memberNames,
  type NativeExchange,
  type RoutedExchange,
  refuseParameters,
  resultsReply,
  taggedResult,
} from './native-request.ts';

/** The names of types in the native interface. */
const TYPE_NAME: Readonly<Record<Field['type']['kind'], string>> = {
  string: 'Character',
  integer: 'Integer',
  decimal: 'Decimal',
  boolean: 'Boolean',
  date: 'Date',
  timestamp: 'Datetime',
};

/** `ListPrice` → `List Price`. */
const labelOf = (name: string): string =>
  name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2');

function describe(field: Field, path: string, label: string, lookup: Lookup | undefined) {
  const { type } = field;
  return {
    ResourceUri: path,
    Label: label,
    Type: TYPE_NAME[type.kind],
    Searchable: true,
    HasList: lookup !== undefined,
    MultiSelect: field.collection,
    ...(type.kind === 'string' && type.maxLength !== undefined ? { MaxLength: type.maxLength } : {}),
    ...(type.kind === 'decimal' ? { Precision: type.precision, Scale: type.scale } : {}),
  };
}

const lookupOf = ({ session }: NativeExchange, { lookup }: Field): Lookup | undefined =>
  lookup === undefined ? undefined : session.view.schema.lookup(lookup);

const fieldList = (lookup: Lookup | undefined) => ({
  FieldList: lookup && [...lookup.values.keys()].map((value) => ({ Name: value, Value: value })),
});

const visibleFields = (request: NativeExchange): readonly Field[] =>
  request.session.view.fieldsOf(listingResource(request));

/** `/v1/standardfields`: the standard fields of a listing that the key sees. */
export function standardFields(request: RoutedExchange, name?: string): Reply | undefined {
  refuseParameters(request, 'standardfields');
  const fields = visibleFields(request).filter(
    ({ custom, nativeName }) => custom === undefined && (name === undefined || nativeName === name),
  );
  if (name !== undefined && fields.length === 0) return undefined;
  const described = fields.map((field) => {
    const lookup = lookupOf(request, field);
    const path = `/v1/standardfields/${field.nativeName}`;
    const description = describe(field, path, labelOf(field.nativeName), lookup);
    return [field.nativeName, { ...description, ...fieldList(lookup) }];
  });
  return withViewTag(resultsReply([Object.fromEntries(described)]), request.session);
}

/** `/v1/customfields`: the custom fields that the key sees, by group and current name. */
export function customFieldList(request: RoutedExchange): Reply {
  refuseParameters(request, 'customfields');
  const groups = Map.groupBy(customFieldsOf(request), ({ custom }) => custom.group);
  return resultsReply(
    [...groups].map(([group, fields]) => ({
      [group]: Object.fromEntries(
        fields.map(({ field, custom }) => [custom.label, describeCustom(request, field, custom)]),
      ),
    })),
  );
}

/**
 * `/v1/customfields/<name>`: the custom fields with this current name, or otherwise with this API name; for the name of a property
 * type, all custom fields, as they apply to every type.
 */
export function customField(request: RoutedExchange, name: string): Reply | undefined {
  refuseParameters(request, 'customfields');
  const all = customFieldsOf(request);
  const labelled = all.filter(({ custom }) => custom.label === name);
  const named = labelled.length > 0 ? labelled : all.filter(({ field }) => field.name === name);
  if (named.length === 0) {
    return propertyTypesOf(request)?.spellings.has(name) === true ? customFieldList(request) : undefined;
  }
  return resultsReply(
    named.map(({ field, custom }) => ({
      [name]: { ...describeCustom(request, field, custom), Group: custom.group },
    })),
  );
}

const customFieldsOf = (request: NativeExchange) =>
  visibleFields(request).flatMap((field) =>
    field.custom === undefined ? [] : [{ field, custom: field.custom }],
  );

function describeCustom(request: NativeExchange, field: Field, { label, section }: CustomOrigin) {
  const lookup = lookupOf(request, field);
  const path = `/v1/customfields/${encodeURIComponent(field.name)}`;
  const description = describe(field, path, label, lookup);
  return { ...description, Section: section, FieldName: field.name, ...fieldList(lookup) };
}

/** The lookup of property types; undefined if the key does not see the field. */
function propertyTypesOf(request: NativeExchange): Lookup | undefined {
  const { schema } = request.session.view;
  const found = schema.of(listingResource(request)).findField('PropertyType');
  return found.kind === 'visible' ? lookupOf(request, found.field) : undefined;
}

/** `/v1/propertytypes`: the values of PropertyType. The code is the value to use in filters. */
export function propertyTypes(request: RoutedExchange): Reply {
  refuseParameters(request, 'propertytypes');
  const types = [...(propertyTypesOf(request)?.values.keys() ?? [])];
  return resultsReply(types.map((type) => ({ MlsName: type, MlsCode: type })));
}

/** `/v1/system`: the identity of the key and of the system. */
export function system(request: RoutedExchange): Reply {
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
  return resultsReply([described], describedBy(exchange.base));
}

/** `/v1/my/account`: the account of the key itself, in the form of the other accounts, with what is known about a key. */
export function myAccount(request: RoutedExchange): Reply {
  const { key, view } = request.session;
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
    // A key for several systems has no system of its own.
    MlsId: system === undefined || others.length > 0 ? null : system,
    Emails: [],
    Phones: [],
    Addresses: [],
    Websites: [],
    Images: [],
  };
  const { selection } = bindRequest(request, memberNames('my/account', Object.keys(account)));
  const names = selection.all ? Object.keys(account) : ['Id', 'ResourceUri', ...selection.names];
  return taggedResult(
    request,
    JSON.stringify(Object.fromEntries(names.map((name) => [name, account[name]]))),
  );
}
